-- CreateEnum
CREATE TYPE "ClientAuthentication" AS ENUM ('none', 'client_secret', 'private_key_jwt');

-- CreateEnum
CREATE TYPE "SecretAlarm" AS ENUM ('expiring', 'expired');

-- AlterEnum
ALTER TYPE "MailKind" ADD VALUE 'secretExpiring';

-- AlterTable
ALTER TABLE "Client" ADD COLUMN     "authentication" "ClientAuthentication" NOT NULL DEFAULT 'none';

-- A first-party client has a secret or keys. A team's web client may authenticate; its secrets are in "ClientSecret".
ALTER TABLE "Client" DROP CONSTRAINT "Client_credentials_check",
  ADD CONSTRAINT "Client_credentials_check" CHECK (CASE WHEN "teamId" IS NULL
    THEN "authentication" = 'none' AND num_nonnulls("secretHash", "jwks") <= 1
    ELSE "secretHash" IS NULL AND ("authentication" = 'none' OR "type" = 'web')
      AND ("jwks" IS NULL OR "authentication" = 'private_key_jwt' AND octet_length("jwks"::text) <= 8192) END);

-- CreateTable
CREATE TABLE "ClientSecret" (
    "id" TEXT COLLATE "C" NOT NULL CHECK (id_fits("id")),
    "clientId" TEXT COLLATE "C" NOT NULL,
    "hash" TEXT COLLATE "C" NOT NULL CHECK ("hash" ~ '^[A-Za-z0-9_-]{43}$'),
    "createdAt" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("createdAt")),
    "expiresAt" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("expiresAt")),
    "lastUsedAt" TIMESTAMPTZ(3) CHECK (time_fits("lastUsedAt")),
    "alarm" "SecretAlarm",

    CONSTRAINT "ClientSecret_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "ClientSecret_life_check" CHECK ("expiresAt" > "createdAt" AND "expiresAt" <= "createdAt" + interval '8760 hours')
);

-- CreateIndex
CREATE INDEX "ClientSecret_clientId_idx" ON "ClientSecret"("clientId");

-- CreateIndex
CREATE INDEX "ClientSecret_expiresAt_idx" ON "ClientSecret"("expiresAt");

-- AddForeignKey
ALTER TABLE "ClientSecret" ADD CONSTRAINT "ClientSecret_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES "Client"("id") ON DELETE CASCADE ON UPDATE CASCADE;

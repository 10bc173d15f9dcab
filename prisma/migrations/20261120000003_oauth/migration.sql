-- CreateEnum
CREATE TYPE "ClientType" AS ENUM ('web', 'native');

-- AlterTable
ALTER TABLE "Client" ADD COLUMN     "redirectUris" TEXT[] COLLATE "C",
ADD COLUMN     "scopes" TEXT[] COLLATE "C",
ADD COLUMN     "type" "ClientType" NOT NULL DEFAULT 'web';

-- CreateTable
CREATE TABLE "Consent" (
    "id" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "organisationId" TEXT COLLATE "C" NOT NULL,
    "clientId" TEXT COLLATE "C" NOT NULL,
    "scopes" TEXT[] COLLATE "C",
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "withdrawnAt" TIMESTAMPTZ(3),

    CONSTRAINT "Consent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "OauthRecord" (
    "model" TEXT COLLATE "C" NOT NULL,
    "id" TEXT COLLATE "C" NOT NULL,
    "payload" JSONB NOT NULL,
    "grantId" TEXT COLLATE "C",
    "uid" TEXT COLLATE "C",
    "expiresAt" TIMESTAMPTZ(3),
    "consumedAt" TIMESTAMPTZ(3),

    CONSTRAINT "OauthRecord_pkey" PRIMARY KEY ("model","id")
);

-- CreateTable
CREATE TABLE "SigningKey" (
    "kid" TEXT COLLATE "C" NOT NULL,
    "sealed" TEXT COLLATE "C" NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "signsFrom" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "SigningKey_pkey" PRIMARY KEY ("kid")
);

-- CreateTable
CREATE TABLE "LoginIdentity" (
    "issuer" TEXT COLLATE "C" NOT NULL,
    "subject" TEXT COLLATE "C" NOT NULL,
    "personId" TEXT COLLATE "C" NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "LoginIdentity_pkey" PRIMARY KEY ("issuer","subject")
);

-- CreateTable
CREATE TABLE "LoginCode" (
    "interaction" TEXT COLLATE "C" NOT NULL,
    "email" TEXT COLLATE "C" NOT NULL,
    "hash" TEXT COLLATE "C" NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "sentAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "LoginCode_pkey" PRIMARY KEY ("interaction")
);

-- CreateIndex
CREATE INDEX "Consent_personId_idx" ON "Consent"("personId");

-- CreateIndex
CREATE INDEX "Consent_clientId_idx" ON "Consent"("clientId");

-- CreateIndex
CREATE INDEX "Consent_organisationId_idx" ON "Consent"("organisationId");

-- CreateIndex
CREATE INDEX "OauthRecord_grantId_idx" ON "OauthRecord"("grantId");

-- CreateIndex
CREATE INDEX "OauthRecord_expiresAt_idx" ON "OauthRecord"("expiresAt");

-- CreateIndex
CREATE UNIQUE INDEX "OauthRecord_model_uid_key" ON "OauthRecord"("model", "uid");

-- CreateIndex
CREATE INDEX "LoginIdentity_personId_idx" ON "LoginIdentity"("personId");

-- CreateIndex
CREATE INDEX "LoginCode_email_sentAt_idx" ON "LoginCode"("email", "sentAt");

-- CreateIndex
CREATE INDEX "LoginCode_expiresAt_idx" ON "LoginCode"("expiresAt");

-- AddForeignKey
ALTER TABLE "Consent" ADD CONSTRAINT "Consent_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Consent" ADD CONSTRAINT "Consent_organisationId_fkey" FOREIGN KEY ("organisationId") REFERENCES "Organisation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Consent" ADD CONSTRAINT "Consent_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES "Client"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "LoginIdentity" ADD CONSTRAINT "LoginIdentity_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id") ON DELETE CASCADE ON UPDATE CASCADE;

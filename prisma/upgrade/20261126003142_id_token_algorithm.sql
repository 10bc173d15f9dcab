-- CreateEnum
CREATE TYPE "IdTokenAlgorithm" AS ENUM ('ES256', 'RS256');

-- AlterTable
ALTER TABLE "Client" ADD COLUMN     "idTokenAlgorithm" "IdTokenAlgorithm" NOT NULL DEFAULT 'ES256';

-- CreateTable
CREATE TABLE "RsaSigningKey" (
    "kid" TEXT COLLATE "C" NOT NULL CHECK (id_fits("kid")),
    "ciphertext" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("ciphertext")),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP CHECK (time_fits("createdAt")),
    "signsFrom" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("signsFrom")),

    CONSTRAINT "RsaSigningKey_pkey" PRIMARY KEY ("kid")
);

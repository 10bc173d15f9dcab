-- CreateTable
CREATE TABLE "CardKey" (
    "kid" TEXT COLLATE "C" NOT NULL CHECK (id_fits("kid")),
    "ciphertext" TEXT COLLATE "C" NOT NULL CHECK (texts_fit("ciphertext")),
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP CHECK (time_fits("createdAt")),
    "signsFrom" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("signsFrom")),

    CONSTRAINT "CardKey_pkey" PRIMARY KEY ("kid")
);

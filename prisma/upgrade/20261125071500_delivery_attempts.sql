CREATE TABLE "DeliveryAttempt" (
    "deliveryId" TEXT COLLATE "C" NOT NULL,
    "number" INTEGER NOT NULL CHECK ("number" >= 1),
    "at" TIMESTAMPTZ(3) NOT NULL CHECK (time_fits("at")),
    "durationMs" INTEGER NOT NULL CHECK ("durationMs" >= 0),
    -- A receiver may answer with any three digits.
    "status" INTEGER CHECK ("status" BETWEEN 0 AND 999),
    "error" TEXT COLLATE "C" CHECK (octet_length("error") <= 1024),
    "answer" TEXT COLLATE "C" CHECK (octet_length("answer") <= 1024),

    CONSTRAINT "DeliveryAttempt_pkey" PRIMARY KEY ("deliveryId","number"),
    CONSTRAINT "DeliveryAttempt_response_check" CHECK ("answer" IS NULL OR "status" IS NOT NULL),
    CONSTRAINT "DeliveryAttempt_deliveryId_fkey" FOREIGN KEY ("deliveryId") REFERENCES "Delivery"("id") ON DELETE CASCADE ON UPDATE CASCADE
);

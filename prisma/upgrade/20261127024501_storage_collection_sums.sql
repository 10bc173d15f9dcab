-- Null until housekeeping has summed the collection, a portion at a time.
ALTER TABLE "StorageCollection" ADD COLUMN "bytes" BIGINT, ADD COLUMN "updatedAt" TIMESTAMPTZ(3);

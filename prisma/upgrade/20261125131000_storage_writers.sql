-- Not validated here: that reads the whole table, which nobody else could read or write meanwhile. The longest id has 1,020
-- bytes; `id_fits`, run for each column at each PUT, takes a tenth of its time.
ALTER TABLE "StorageEntry"
  ADD COLUMN "createdBy" TEXT COLLATE "C",
  ADD COLUMN "updatedBy" TEXT COLLATE "C",
  ADD CONSTRAINT "StorageEntry_createdBy_check" CHECK (octet_length("createdBy") <= 1020) NOT VALID,
  ADD CONSTRAINT "StorageEntry_updatedBy_check" CHECK (octet_length("updatedBy") <= 1020) NOT VALID,
  ADD CONSTRAINT "StorageEntry_writers_check" CHECK ("owner" = '' OR "createdBy" IS NULL AND "updatedBy" IS NULL) NOT VALID;

-- Null until an entry of the store is added or removed: the functions of the former release do not count them.
ALTER TABLE "StorageUsage" ADD COLUMN "entries" BIGINT;

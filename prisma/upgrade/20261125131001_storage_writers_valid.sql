ALTER TABLE "StorageEntry"
  VALIDATE CONSTRAINT "StorageEntry_createdBy_check",
  VALIDATE CONSTRAINT "StorageEntry_updatedBy_check",
  VALIDATE CONSTRAINT "StorageEntry_writers_check";

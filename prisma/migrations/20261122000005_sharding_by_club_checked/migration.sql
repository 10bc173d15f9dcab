-- Looks at the rows of the keys of 20261122000002, while others read and write.
ALTER TABLE "StorageUsage" VALIDATE CONSTRAINT "StorageUsage_appId_fkey", VALIDATE CONSTRAINT "StorageUsage_clubId_fkey";
ALTER TABLE "StorageEntry" VALIDATE CONSTRAINT "StorageEntry_appId_fkey", VALIDATE CONSTRAINT "StorageEntry_clubId_fkey",
  VALIDATE CONSTRAINT "StorageEntry_clubId_memberId_fkey";

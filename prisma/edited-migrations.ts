import type { AppliedMigration } from './applied-migrations.ts'

/**
 * Checksums of migrations that were edited between two commits since 283ca89d. Databases made meanwhile have them as they were:
 * prisma/upgrade/20261127130002_edited_migrations.sql makes up the difference.
 */
const FORMER_CHECKSUMS = new Set([
  '43760e90a83bddc9c316110b817c8102e1014ca46bb4c476bd519981a0b89579', // 20261122000000_storage_collections
  '435a3552a08c4a4ef0beb8395b3db1027ed4809b2829c888335a7d59f29f8ade', // 20261122000002_sharding_by_club
  'c796719bc0e9b7622f53cb3808c4e0c943c3d0ac88bc140f7b72bb522194f460', // 20261126003232_club_approvals
  '5ddeb050f684b8af613270def30eece6e9791f2a3d6674dab94cc03ce17690ec', // 20261126180000_storage_entry_checks
  'ccffb4f82ea444021017f8ca943d5b107d27137a812fcef2c83ada36f510f316', // 20261126180000_storage_entry_checks
  'd10fe55feaf858359ed34d9247ea97bdc192109a7e1939d56a325b7b3c6d595c', // 20261127120557_storage_requests
])

/** Removed when 20261122000002_sharding_by_club was edited. */
export const REMOVED = { name: '20261122000005_sharding_by_club_checked' }

/** Whether the migration is applied as it was before it was edited. */
export const isAppliedAsBefore = (name: string, applied: readonly AppliedMigration[]) =>
  applied.some((row) => row.name === name && row.finished && FORMER_CHECKSUMS.has(row.checksum))

import type { AppliedMigration } from './applied-migrations.ts'
import { ForeignMigrationError, isPending } from './applied-migrations.ts'
import type { Migration } from './migration-files.ts'

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
const REMOVED = { name: '20261122000005_sharding_by_club_checked' }

/** Whether the migration is applied as it was before it was edited. */
const isAppliedAsBefore = (name: string, applied: readonly AppliedMigration[]) =>
  applied.some((row) => row.name === name && row.finished && FORMER_CHECKSUMS.has(row.checksum))

export interface MigrationFiles {
  migrations: readonly Migration[]
  /** Bring a database from before the first migration to where that one brings a new database. */
  steps: readonly Migration[]
}

const OLDEST_COMMIT = '283ca89d'

/** What databases of that commit have. No step makes it. */
const OLDEST = [
  {
    name: '20261121000000_tables',
    checksum: '6d6b9bbea9aa945053b7e8cf6095154112228617d2472d07251121daa37540df',
  },
  {
    name: '20261121000001_functions_and_checks',
    checksum: 'eb0d562550d71899084fdbd0ecccb047a331c1bab3645c2d17e312aa20a28012',
  },
]

/** The first migration of databases made between 24 and 28 November 2026. It stands for OLDEST and the steps before it. */
const SQUASHED = {
  name: '20261125000000_before_1_0',
  checksum: '7b0ce4efd423862661c85646730d2f51d8b91af228b988e908e7433c4152d76e',
}

/** Returns what the database lacks, in the order of application. Throws as `isPending` does, and when the database is too old. */
export function pendingAmong({ migrations, steps }: MigrationFiles, applied: readonly AppliedMigration[]): Migration[] {
  const pending = migrations.filter((migration) => isPending(migration, applied))
  return isFormer({ migrations, steps }, applied) ? [...pendingSteps(steps, applied), ...pending] : pending
}

/** Whether steps, in place of the first migration, make the tables of the database. */
export const isFormer = ({ migrations: [first] }: MigrationFiles, applied: readonly AppliedMigration[]) =>
  applied.length > 0 && first !== undefined && isPending(first, applied)

function pendingSteps(steps: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const isSquashed = !isPending(SQUASHED, applied)
  if (!isSquashed) refuseOlder(applied)
  if (steps.length === 0)
    throw new Error('prisma/upgrade is missing beside prisma/migrations: it is part of the installation.')
  return steps
    .filter(({ name }) => !(isSquashed && name < SQUASHED.name) && !isAppliedAsBefore(name, applied))
    .filter((step) => isPending(step, applied))
}

function refuseOlder(applied: readonly AppliedMigration[]): void {
  if (OLDEST.every(({ name, checksum }) => applied.some((row) => row.name === name && row.checksum === checksum)))
    return
  const { name } = applied[0]!
  if (name > OLDEST.at(-1)!.name) throw new ForeignMigrationError(name, `Migration ${name} is unknown.`)
  throw new Error(
    `The database was made before the commit ${OLDEST_COMMIT}, the oldest one whose databases \`member-apps migrate\` upgrades (docs/upgrades.md#from-before-010).`,
  )
}

/** The applied migrations that these files, and the releases before them, do not have. */
export function unknownAmong({ migrations, steps }: MigrationFiles, applied: readonly AppliedMigration[]): string[] {
  const known = new Set([...OLDEST, SQUASHED, REMOVED, ...steps, ...migrations].map(({ name }) => name))
  return applied.map(({ name }) => name).filter((name) => !known.has(name))
}

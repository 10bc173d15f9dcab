import type { Backup } from '../../prisma/backup/restore.ts'
import { examineBackup, restoreBackup, rowsIn } from '../../prisma/backup/restore.ts'
import type { Removal } from '../../routers/kernel/removal.ts'
import { decryptsCheck } from '../../routers/kernel/secrets-key.ts'
import { nameOf, repeatRemoval } from '../admin/repeat-removals.ts'
import { ofSecrets, readSettings } from '../process/command-settings.ts'
import { createCipher } from '../secrets/cipher.ts'
import type { SecretsSettings } from '../secrets/keys.ts'
import { existingSecretsKeys, secretsKeyFile } from '../secrets/keys.ts'
import { flag, parseFile, texts } from './arguments.ts'
import type { Io } from './command.ts'
import { command, UsageError } from './command.ts'
import { confirm, requireConfirmation } from './confirmation.ts'
import { withDatabase, withDatabaseUrl } from './database.ts'
import { readRemovals } from './removal-log.ts'

const usage = `Usage:
  npm run -s restore -- FILE --repeat LIST [--repeat LIST ...] [--yes] [--lost-key]
  npm run -s restore -- FILE --nothing-to-repeat [--yes] [--lost-key]

Replaces the content of the database with a backup, which may be of an older release. Stop the service and its workers
first. It asks before it replaces rows; --yes answers for you. With --lost-key it also restores what SECRETS_KEY cannot
decrypt: see npm run -s secrets -- forget.

What was removed since the backup would come back: erased members, removed clients, replaced credentials, revoked keys.
LIST is a file of --log, or a log of the service; what it says was removed since the backup is removed again.
`

export const run = command(usage, async (argv, io) => {
  const { file, values } = parseFile(argv, {
    ...{ yes: flag, 'lost-key': flag, repeat: texts, 'nothing-to-repeat': flag },
  })
  if ((values.repeat === undefined) !== (values['nothing-to-repeat'] === true)) {
    throw new UsageError(
      '--repeat is needed, with the list of what was removed since the backup, or --nothing-to-repeat.',
    )
  }
  const config = readSettings(io.env, ...ofSecrets)
  const backup = await examineBackup(file)
  const removals = await readRemovals(values.repeat ?? [], backup.takenAt)
  if (!values['lost-key']) await requireKey(config, backup)
  await withDatabaseUrl(io, async (url) => {
    await confirmReplacing(await rowsIn(url), { ...io, yes: values.yes })
    await restoreBackup(url, file, backup)
  })
  io.stdout.write(`Restored: ${backup.rows} rows of ${backup.takenAt}\n`)
  if (removals.length > 0) await repeat(removals, io)
})

async function repeat(removals: readonly Removal[], io: Io) {
  const work = withDatabase(io, async (db) => {
    for (const removal of removals) {
      const done = await repeatRemoval(db, removal)
      io.stdout.write(`${done ? 'Repeated' : 'Nothing to repeat'}: ${nameOf(removal)}\n`)
    }
  })
  await work.catch((cause: Error) => {
    throw new Error(
      `Restored, but not all was repeated: restore again before you start the service. ${cause.message}`,
      { cause },
    )
  })
}

async function requireKey(config: SecretsSettings, { secretsKeyCheck }: Backup) {
  const keys = await existingSecretsKeys(config)
  if (secretsKeyCheck === null || (keys && decryptsCheck(createCipher(keys), secretsKeyCheck))) return
  throw new Error(
    `Nothing was restored: ${keys ? 'SECRETS_KEY does not decrypt the secrets in the backup' : 'SECRETS_KEY is missing'}. ` +
      `Set the key of the backed up service; if it was never set there, copy its file to ${secretsKeyFile(config)}. ` +
      'If that key is lost, --lost-key restores the rest.',
  )
}

async function confirmReplacing(rows: ReadonlyMap<string, number>, io: Io & { yes: boolean | undefined }) {
  if (rows.size === 0) return
  requireConfirmation(io)
  const tables = [...rows].map(([table, count]) => `  ${table}: ${count}\n`).join('')
  io.stdout.write(`To be removed from the database, rows:\n${tables}`)
  await confirm('restore', io)
}

import { z } from 'zod'
import type { Database } from '../../../prisma/client.ts'
import { memberMarks } from '../../../routers/kernel/cipher.ts'
import { describeRemoval, repeatRemoval } from '../../admin/repeat-removals.ts'
import { readSettings, secretsSettings } from '../../process/command-settings.ts'
import type { Environment } from '../../process/config.ts'
import { createCipher } from '../../secrets/cipher.ts'
import { existingSecretsKeys, requireSecretsKey } from '../../secrets/keys.ts'
import type { Command } from '../line/command.ts'
import { action, UsageError } from '../line/command.ts'
import { withDatabase } from '../line/database.ts'
import { readRemovals } from './removal-log.ts'

/**
 * A person's keyed hashes in the request log; none before the first start of a service, whose key alone can make them. Throws
 * without that key.
 */
export async function openMarks(env: Environment, db: Database): Promise<(person: string) => string[]> {
  const keys = await existingSecretsKeys(readSettings(env, ...secretsSettings))
  await requireSecretsKey(db, keys)
  const cipher = keys && createCipher(keys)
  return (person) => (cipher ? memberMarks(cipher, person) : [])
}

const repeat = action(
  {
    declare: (line) =>
      line
        .argument('<FILE...>', 'a file of --log, or a log of the service')
        .requiredOption('--since <TIME>', 'the time when the backup began, as 2026-11-24T03:00:00Z'),
    async run(values, io, paths) {
      const since = z.iso.datetime({ offset: true }).safeParse(values.since)
      if (!since.success) throw new UsageError('--since is required: the time when the backup began.')
      const removals = await readRemovals(paths, since.data)
      if (removals.length === 0) io.stdout.write(`Nothing was removed since ${since.data}.\n`)
      return withDatabase(io, async (db) => {
        const repeated: { removal: string; repeated: boolean }[] = []
        const erases = removals.some(({ repeat }) => repeat === 'member.erase')
        const computeMarks = erases ? await openMarks(io.env, db) : () => []
        for (const removal of removals) {
          const done = await repeatRemoval(db, removal, async (person) => computeMarks(person))
          io.stdout.write(`${done ? 'Repeated' : 'Nothing to repeat'}: ${describeRemoval(removal)}\n`)
          repeated.push({ removal: describeRemoval(removal), repeated: done })
        }
        return repeated
      })
    },
  },
  // Written line by line, so that it is known how far it came.
  { json: '[{ removal, repeated }]', text: () => '' },
)

export const command: Command = {
  about: `After a restore and before the service starts: repeats the removals made since the backup began, which the restore has
undone: erased members, removed clients, replaced credentials, revoked keys. Repeating twice changes nothing.`,
  actions: { '': repeat },
  examples: [
    'removals --since 2026-11-24T03:00:00Z removals.log',
    'removals --since 2026-11-24T03:00:00Z removals.log --json',
  ],
}

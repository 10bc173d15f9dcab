import { z } from 'zod'
import { nameOf, repeatRemoval } from '../admin/repeat-removals.ts'
import { parsePaths, text } from './arguments.ts'
import { command, UsageError } from './command.ts'
import { withDatabase } from './database.ts'
import { readRemovals } from './removal-log.ts'

const usage = `Usage:
  npm run -s removals -- --since 2026-11-24T03:00:00Z LIST [LIST ...]

After a restore and before the service starts: repeats the removals made since the backup began, which the restore has undone:
erased members, removed clients, replaced credentials, revoked keys. LIST is a file of --log, or a log of the service.
Repeating twice changes nothing.
`

export const run = command(usage, async (argv, io) => {
  const { values, paths } = parsePaths(argv, { since: text })
  const since = z.iso.datetime({ offset: true }).safeParse(values.since)
  if (!since.success) throw new UsageError('--since is required: the time when the backup began.')
  if (paths.length === 0) throw new UsageError('A list is required.')
  const removals = await readRemovals(paths, since.data)
  if (removals.length === 0) io.stdout.write(`Nothing was removed since ${since.data}.\n`)
  await withDatabase(io, async (db) => {
    for (const removal of removals) {
      const done = await repeatRemoval(db, removal)
      io.stdout.write(`${done ? 'Repeated' : 'Nothing to repeat'}: ${nameOf(removal)}\n`)
    }
  })
})

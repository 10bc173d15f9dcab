import { kindNames } from '../../routers/directory/kinds.ts'
import { flag, oneOf, parsePaths, text } from './arguments.ts'
import type { Io } from './command.ts'
import { command, UsageError } from './command.ts'
import { withOwnConnection } from './database.ts'
import type { File } from './import/files.ts'
import { findFiles } from './import/files.ts'
import { interruptible } from './import/interruption.ts'
import type { Load } from './import/load-kind.ts'
import type { Outcome } from './import/load-kinds.ts'
import { loadKinds, tryKinds } from './import/load-kinds.ts'
import { openRejectedRows } from './import/rejected-rows.ts'
import { withRereadable } from './import/spool.ts'
import { table } from './table.ts'

const usage = `Usage:
  npm run -s import -- [FILE | DIRECTORY | -] ... [--kind KIND] [--rows N]
      [--full [--yes]] [--skip-refused FILE] [--dry-run]

Merges the platform's records from NDJSON or CSV into the database. A file's name begins with its kind: people.ndjson,
people-2026.csv; --kind gives it for files with other names and for standard input (-, or no file). Each kind is one
transaction. They are imported in this order:
  ${kindNames.slice(0, 9).join(', ')},
  ${kindNames.slice(9).join(', ')}

  --dry-run             reports what would happen, and writes nothing
  --full                ends stored records of these kinds that are not in the files; more than 5 % of a kind only with --yes.
                        Requires the number of rows: by --rows, or in the last line of each file
  --rows N              writes nothing unless the files have N rows, of one kind
  --skip-refused FILE   writes refused rows to FILE as NDJSON and imports the others; else one refused row stops its kind

docs/import.md describes the formats.
`

const options = { kind: text, rows: text, full: flag, 'dry-run': flag, yes: flag, 'skip-refused': text } as const

export const run = command(usage, async (argv, io) => {
  const { values, paths } = parsePaths(argv, options)
  const { full = false, yes = false, 'skip-refused': rejectedPath, 'dry-run': dryRun = false } = values
  if (yes && !full) throw new UsageError('--yes requires --full.')
  const tolerant = rejectedPath !== undefined
  const kind = values.kind === undefined ? undefined : oneOf('kind', values.kind, kindNames)
  const rows = values.rows === undefined ? undefined : countOf(values.rows)
  const files = await findFiles({ paths, kind }, io)
  if (rows !== undefined && files.some((file) => file.kind !== files[0]!.kind)) throw new UsageError(SEVERAL_KINDS)
  const rejected = tolerant && !dryRun ? await openRejectedRows(rejectedPath) : undefined
  const outcome = await interruptible((signal) => {
    const asked = { now: new Date(), full, rows, yes, tolerant, dryRun, rejected, stderr: io.stderr, signal }
    const load = (readable: readonly File[]) =>
      withOwnConnection(io, signal, (client) => (dryRun ? tryKinds : loadKinds)(client, byKind(readable), asked))
    return rejected ? withRereadable(files, signal, load) : load(files)
  }).finally(() => rejected?.close())
  report(outcome, dryRun, io)
})

const SEVERAL_KINDS =
  '--rows is for files of one kind; for several kinds, state the number of rows in the last line of each file.'

function countOf(rows: string): number {
  if (!/^\d{1,15}$/.test(rows)) throw new UsageError('--rows must be a whole number, 0 or more.')
  return Number(rows)
}

const byKind = (files: readonly File[]): Load[] =>
  kindNames
    .map((kind) => ({ kind, files: files.filter((file) => file.kind === kind) }))
    .filter(({ files }) => files.length > 0)

/** Throws when a kind has failed. */
function report({ loaded, notBegun }: Outcome, dryRun: boolean, { stdout }: Io) {
  const counts = ['added', 'changed', 'unchanged', 'ended', 'refused'] as const
  const head = ['KIND', ...counts.map((name) => name.toUpperCase())]
  const rows = loaded.map((one) => [one.kind, ...counts.map((name) => String(one[name]))])
  stdout.write(table([head, ...rows].map((cells) => cells.map((cell) => [cell]))))
  if (dryRun) stdout.write('Nothing was written: this was a dry run.\n')
  const faults = loaded.flatMap(({ fault }) => fault ?? [])
  const others = notBegun.length > 0 ? [`Not begun: ${notBegun.map(({ kind }) => kind).join(', ')}.`] : []
  if (faults.length > 0) throw new Error([...faults, ...others].join('\n'))
}

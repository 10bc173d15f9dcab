import { Option } from '@commander-js/extra-typings'
import { recordTypeNames } from '../../../routers/directory/record-types.ts'
import type { Command } from '../line/command.ts'
import { action, UsageError } from '../line/command.ts'
import { withOwnConnection } from '../line/database.ts'
import { openReports } from '../line/reports.ts'
import { table } from '../line/table.ts'
import type { File } from './files.ts'
import { findFiles } from './files.ts'
import type { Load } from './load-record-type.ts'
import { loadRecordTypes, tryRecordTypes } from './load-record-types.ts'
import { openRejectedFile, requireNoInput } from './rejected-file.ts'
import { withRereadable } from './spool.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Ends the process even if something hangs: supervisors kill after 10 s. */
const LAST_RESORT_MS = 9_500

/**
 * Aborts the signal passed to `use` when the process gets a signal. It may come twice, as npm forwards the Ctrl-C that the
 * terminal has already sent to this process.
 */
async function interruptible<Result>(use: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController()
  const interrupt = () => {
    controller.abort(new Error('Interrupted.'))
    setTimeout(() => process.exit(1), LAST_RESORT_MS).unref()
  }
  for (const signal of SIGNALS) process.on(signal, interrupt)
  try {
    return await use(controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt)
  }
}

const load = action(
  {
    declare: (line) =>
      line
        .argument('[FILE...]', 'a file or a directory of files, - for standard input, as without one')
        .addOption(
          new Option('--kind <KIND>', 'the kind of files whose names do not begin with it').choices(recordTypeNames),
        )
        .option('--rows <N>', 'writes nothing unless the files have N rows, of one kind')
        .option(
          '--full',
          'ends stored records of these kinds that are not in the files; more than 5 % of a kind only with --yes. ' +
            'Requires the number of rows: by --rows, or in the last line of each file',
        )
        .option('--yes', 'with --full: ends more than 5 %')
        .option(
          '--skip-refused <FILE>',
          'writes refused rows to FILE as NDJSON and imports the others; else one refused row stops its kind',
        )
        .option('--dry-run', 'reports what would happen, and writes nothing'),
    async run(values, io, paths) {
      const { full = false, yes = false, skipRefused: rejectedPath, dryRun = false, kind: recordType } = values
      if (yes && !full) throw new UsageError('--yes requires --full.')
      const tolerant = rejectedPath !== undefined
      const rows = values.rows === undefined ? undefined : parseCount(values.rows)
      const files = await findFiles({ paths, recordType }, io)
      if (rows !== undefined && files.some((file) => file.recordType !== files[0]!.recordType))
        throw new UsageError(SEVERAL_KINDS)
      if (tolerant) await requireNoInput(rejectedPath, files, io)
      const reports = openReports(io)
      const rejected = tolerant && !dryRun ? await openRejectedFile(rejectedPath, io) : undefined
      const { loaded, notBegun } = await interruptible((signal) => {
        const asked = { now: new Date(), full, rows, yes, tolerant, dryRun, rejected, stderr: io.stderr, signal }
        const load = (readable: readonly File[]) =>
          withOwnConnection(
            io,
            async (client, db) => {
              const result = await (dryRun ? tryRecordTypes : loadRecordTypes)(client, byRecordType(readable), asked)
              // The input may be made of that file: it stays where nothing was written.
              if (result.loaded.some(({ fault }) => fault === undefined)) await rejected?.replace()
              if (!dryRun) await reports.due(db)
              return result
            },
            signal,
          )
        return rejected ? withRereadable(files, signal, load) : load(files)
      }).finally(() => rejected?.close())
      const kinds = loaded.map((one) => ({ ...one, fault: one.fault ?? null }))
      return { dryRun, kinds, notBegun: notBegun.map(({ recordType }) => recordType) }
    },
  },
  {
    json: '{ dryRun, kinds, notBegun }',
    text({ dryRun, kinds }) {
      const counts = ['added', 'changed', 'unchanged', 'ended', 'refused'] as const
      const head = ['KIND', ...counts.map((name) => name.toUpperCase())]
      const rows = kinds.map((one) => [one.kind, ...counts.map((name) => String(one[name]))])
      const printed = table([head, ...rows].map((cells) => cells.map((cell) => [cell])))
      return dryRun ? `${printed}Nothing was written: this was a dry run.\n` : printed
    },
    fault({ kinds, notBegun }) {
      const faults = kinds.flatMap(({ fault }) => fault ?? [])
      if (faults.length === 0) return undefined
      return [...faults, ...(notBegun.length > 0 ? [`Not begun: ${notBegun.join(', ')}.`] : [])].join('\n')
    },
  },
)

const SEVERAL_KINDS =
  '--rows is for files of one kind; for several kinds, state the number of rows in the last line of each file.'

function parseCount(rows: string): number {
  if (!/^\d{1,15}$/.test(rows)) throw new UsageError('--rows must be a whole number, 0 or more.')
  return Number(rows)
}

const byRecordType = (files: readonly File[]): Load[] =>
  recordTypeNames
    .map((recordType) => ({ recordType, files: files.filter((file) => file.recordType === recordType) }))
    .filter(({ files }) => files.length > 0)

export const command: Command = {
  about: `Merges the platform's records from NDJSON or CSV into the database. A file's name begins with its kind:
people.ndjson, people-2026.csv; --kind gives it for files with other names and for standard input. Each kind is one
transaction. They are imported in this order:
  ${recordTypeNames.slice(0, 9).join(', ')},
  ${recordTypeNames.slice(9).join(', ')}
Progress and refused rows are written to standard error. docs/import.md describes the formats.`,
  actions: { '': load },
  examples: [
    'import --dry-run organisations.ndjson people.ndjson',
    'import organisations.ndjson people.ndjson',
    'import --kind people --rows 1 --skip-refused refused.ndjson people.ndjson',
    'import --json people.ndjson',
  ],
}

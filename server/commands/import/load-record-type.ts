import type { ClientBase } from 'pg'
import type { Incoming } from '../../../routers/directory/merge.ts'
import { mergeRecords } from '../../../routers/directory/merge.ts'
import type { RecordTypeName } from '../../../routers/directory/record-types.ts'
import { listFields } from '../../../routers/directory/record-types.ts'
import type { Io } from '../line/command.ts'
import { printable } from '../line/table.ts'
import { FileFault } from './file-fault.ts'
import type { File } from './files.ts'
import { showProgress } from './progress.ts'
import { readRows } from './read-rows.ts'
import { encodeLine, Refusals } from './refusals.ts'
import type { RejectedFile } from './rejected-file.ts'
import { writeRejectedRows } from './rejected-rows.ts'
import type { Refusal as Unreadable } from './rows.ts'

/** The share of a kind's rows that `--full` may end without `--yes`. */
const ENDED_SHARE = 0.05

export interface Load {
  recordType: RecordTypeName
  files: readonly File[]
}

export interface LoadOptions {
  now: Date
  full: boolean
  /** The expected number of rows in the kind's files; undefined if not given. */
  rows: number | undefined
  yes: boolean
  /** Whether the other rows may be committed when some are refused. */
  tolerant: boolean
  dryRun: boolean
  rejected: RejectedFile | undefined
  stderr: Io['stderr']
  signal: AbortSignal
}

/** Row counts; `fault` says why none of them may be committed. */
export interface Loaded {
  kind: RecordTypeName
  added: number
  changed: number
  unchanged: number
  ended: number
  refused: number
  fault?: string
}

/** Merges a kind's files in the caller's transaction. Throws when a file cannot be read to its end. */
export async function loadRecordType(
  client: ClientBase,
  { recordType, files }: Load,
  options: LoadOptions,
): Promise<Loaded> {
  const { rejected, stderr, tolerant, dryRun } = options
  const refusals = new Refusals(files, rejected !== undefined)
  const progress = showProgress(stderr, recordType, sumSizes(files))
  const unreadable = new Map<number, Unreadable>()
  const doubts = new Refusals(files, false)
  const records = readRecords(files, { unreadable, doubts, progress, ...options })
  const merged = await mergeRecords(client, recordType, records, {
    now: options.now,
    full: options.full,
    skipRefused: tolerant || dryRun,
    nameLine: (line) => refusals.nameLine(line),
    onRefused: ({ line, ...refusal }) => refusals.add({ line, ...(unreadable.get(line) ?? refusal) }),
  }).finally(progress.end)
  stderr.write(doubts.text('Warning: '))
  stderr.write(refusals.text())
  if (rejected) await writeRejectedRows(rejected, files, refusals.all())
  const { added, changed, unchanged, ended, current } = merged
  const counts = { kind: recordType, added, changed, unchanged, ended, refused: refusals.count }
  if (refusals.count > 0 && !tolerant) {
    return {
      ...counts,
      fault: `Refused rows stop ${recordType}; --skip-refused FILE writes them to FILE and continues.`,
    }
  }
  if (ended > current * ENDED_SHARE && !options.yes) {
    return {
      ...counts,
      fault: `--full would end ${ended} of ${current} ${recordType}, more than 5 %: which requires --yes.`,
    }
  }
  return counts
}

const sumSizes = (files: readonly File[]) =>
  files.reduce<number | undefined>(
    (sum, { bytes }) => (sum === undefined || bytes === undefined ? undefined : sum + bytes),
    0,
  )

interface Reading extends Pick<LoadOptions, 'full' | 'rows' | 'signal'> {
  unreadable: Map<number, Unreadable>
  doubts: Refusals
  progress: ReturnType<typeof showProgress>
}

/**
 * The rows of all files. An unreadable row is yielded without a record, which is refused; `unreadable` has its reason meanwhile.
 * Throws at the end of files whose row count differs from the expected one, so that nothing ends because a file was cut off.
 */
async function* readRecords(
  files: readonly File[],
  { unreadable, doubts, progress, full, rows, signal }: Reading,
): AsyncGenerator<Incoming> {
  const reading = { whole: full && rows === undefined, onBytes: progress.bytes, signal }
  let count = 0
  for (const [i, file] of files.entries()) {
    let last = 1
    try {
      for await (const { line, record, refusal, doubt } of readRows(file, listFields(file.recordType), reading)) {
        progress.rows(1)
        count += 1
        last = line
        const number = encodeLine(i, line)
        if (refusal) unreadable.set(number, refusal)
        if (doubt) doubts.add({ line: number, ...doubt })
        yield { line: number, record: refusal ? undefined : record }
        unreadable.delete(number)
      }
      if (i === files.length - 1 && rows !== undefined && count !== rows) {
        throw new FileFault(last, `The rows end here: there are ${count}, and --rows is ${rows}.`)
      }
    } catch (error) {
      throw error instanceof FileFault
        ? new Error(printable(`${file.name}:${error.line}: ${error.message}`), { cause: error })
        : error
    }
  }
  progress.read()
}

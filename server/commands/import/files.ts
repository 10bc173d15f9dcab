import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { addAbortSignal } from 'node:stream'
import type { RecordTypeName } from '../../../routers/directory/record-types.ts'
import { recordTypeNames } from '../../../routers/directory/record-types.ts'
import type { Io } from '../line/command.ts'
import { UsageError } from '../line/command.ts'

export interface File {
  recordType: RecordTypeName
  /** As given, or as found in a directory. */
  name: string
  /** Undefined for standard input. */
  path?: string
  format: 'ndjson' | 'csv' | undefined
  /** Undefined when the size is not known before the end. */
  bytes: number | undefined
  open: (signal?: AbortSignal) => AsyncIterable<Buffer>
}

interface Asked {
  paths: readonly string[]
  recordType: RecordTypeName | undefined
}

const FORMAT = /\.(?:(ndjson|jsonl)|csv|tsv)$/i

/**
 * Finds the files and standard input that the paths name, ordered by kind. Throws when a file does not exist, and a UsageError
 * when a name indicates no kind.
 */
export async function findFiles(asked: Asked, { stdin }: Pick<Io, 'stdin'>) {
  const paths = asked.paths.length > 0 ? asked.paths : ['-']
  if (paths.filter((path) => path === '-').length > 1) throw new UsageError('Standard input can be read only once.')
  const found: File[] = []
  for (const path of paths) {
    if (path === '-') found.push(standardInput(asked, stdin))
    else found.push(...(await filesAt(path, asked)))
  }
  return found.toSorted((a, b) => recordTypeNames.indexOf(a.recordType) - recordTypeNames.indexOf(b.recordType))
}

function standardInput({ recordType, paths }: Asked, stdin: Io['stdin']): File {
  if (paths.length === 0 && stdin.isTTY) throw new UsageError('Files, a directory, or standard input are required.')
  if (!recordType) throw new UsageError('Standard input has no name: --kind is required.')
  return {
    recordType,
    name: 'stdin',
    format: undefined,
    bytes: undefined,
    open: (signal) => (signal ? addAbortSignal(signal, stdin) : stdin),
  }
}

async function filesAt(path: string, asked: Asked): Promise<File[]> {
  const stats = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'ENOENT' ? 'there is no such file' : cause.message
    throw new Error(`${path}: ${reason}.`, { cause })
  })
  if (!stats.isDirectory()) return [fileAt(path, stats.isFile() ? stats.size : undefined, asked)]
  const names = (await readdir(path)).filter((name) => FORMAT.test(name)).sort()
  if (names.length === 0) throw new UsageError(`${path} has no file whose name ends in .ndjson or .csv.`)
  return Promise.all(names.map(async (name) => fileAt(join(path, name), (await stat(join(path, name))).size, asked)))
}

function fileAt(path: string, bytes: number | undefined, asked: Asked): File {
  const format = FORMAT.exec(path)
  return {
    recordType: asked.recordType ?? readRecordType(path),
    name: path,
    path,
    bytes,
    format: format ? (format[1] ? 'ndjson' : 'csv') : undefined,
    open: (signal) => createReadStream(path, { highWaterMark: 256 * 1024, ...(signal && { signal }) }),
  }
}

/** `people.csv` and `people-2026.ndjson` contain people. */
function readRecordType(path: string): RecordTypeName {
  const word = basename(path).split(/[.-]/, 1)[0]
  const recordType = recordTypeNames.find((one) => one === word)
  if (!recordType)
    throw new UsageError(
      `${path}: a file's name must begin with its kind, or --kind must give it: ${recordTypeNames.join(', ')}.`,
    )
  return recordType
}

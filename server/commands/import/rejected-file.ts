import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, fstatSync } from 'node:fs'
import { access, constants, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ActionIo } from '../line/command.ts'
import { UsageError } from '../line/command.ts'
import type { File } from './files.ts'

/** Where the lines of `--skip-refused` go. */
export interface RejectedFile {
  write: (text: string) => Promise<void>
  /** Throws when what has been written may not last. */
  sync: () => Promise<void>
  /** Replaces a file; until then it is as it was. */
  replace: () => Promise<void>
  close: () => Promise<void>
}

type Standard = Pick<ActionIo, 'stdin' | 'document' | 'stderr'>

/** Throws a UsageError when the path is a file that is read. */
export async function requireNoInput(path: string, files: readonly File[], { stdin }: Standard) {
  const own = await identify(path)
  if (!own?.isFile) return
  const inputs = await Promise.all(
    files.map(({ path }) => (path === undefined ? identifyStream(stdin) : identify(path))),
  )
  if (inputs.some((input) => input?.id === own.id))
    throw new UsageError(`--skip-refused would replace ${path}, which this import reads.`)
}

/** A regular file is written beside itself, or to a temporary file. Throws when it cannot be written. */
export async function openRejectedFile(path: string, { document, stderr }: Standard): Promise<RejectedFile> {
  const existing = await identify(path)
  // Opened again, a file would be written from its start, and a socket cannot be.
  const output = [document, stderr].find((stream) => existing && identifyStream(stream)?.id === existing.id)
  if (output) return toStream(output)
  return existing && !existing.isFile ? inPlace(path) : besides(path, existing?.mode ?? 0o600)
}

const nothing = async () => {}

const toStream = (stream: Writable): RejectedFile => ({
  write: (text) =>
    new Promise<void>((resolve, reject) => stream.write(text, (error) => (error ? reject(error) : resolve()))),
  sync: nothing,
  replace: nothing,
  close: nothing,
})

/** For a FIFO or a device, which cannot be replaced. */
async function inPlace(path: string): Promise<RejectedFile> {
  const handle = await open(path, 'w')
  return { write: (text) => handle.appendFile(text), sync: nothing, replace: nothing, close: () => handle.close() }
}

async function besides(named: string, mode: number): Promise<RejectedFile> {
  const path = await realpath(named).catch(() => named)
  await access(path, constants.W_OK).catch(unlessMissing)
  const { draft, handle, isBeside } = await openDraft(path, mode)
  // Also a file that is mounted cannot be renamed. fs.copyFile would set the mode, which only the file's owner can.
  const copy = () => pipeline(createReadStream(draft), createWriteStream(path, { mode }))
  return {
    write: (text) => handle.appendFile(text),
    sync: () => handle.sync().catch(unlessUnsupported),
    replace: () => (isBeside ? rename(draft, path).catch(copy) : copy()),
    async close() {
      await handle.close()
      await rm(draft, { force: true })
    },
  }
}

/** What a directory answers in which nothing can be created, though a file there may be written; or one with a long name. */
const NOT_BESIDE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENAMETOOLONG'])

async function openDraft(path: string, mode: number) {
  const beside = `${path}.${randomUUID()}`
  try {
    return { draft: beside, handle: await open(beside, 'wx', mode), isBeside: true }
  } catch (error) {
    if (!NOT_BESIDE.has((error as NodeJS.ErrnoException).code!)) throw error
  }
  if (!(await identify(path))) await access(dirname(path), constants.W_OK)
  const draft = join(tmpdir(), `member-apps-import-${randomUUID()}`)
  const handle = await open(draft, 'wx', 0o600).catch((cause) => {
    throw new Error(
      `No file can be created beside that of --skip-refused, nor a temporary one: ${cause.message}. ` +
        'Set TMPDIR to a writable directory.',
      { cause },
    )
  })
  return { draft, handle, isBeside: false }
}

function unlessMissing(error: NodeJS.ErrnoException) {
  if (error.code !== 'ENOENT') throw error
}

/** As file systems in user space may answer. */
function unlessUnsupported(error: NodeJS.ErrnoException) {
  if (error.code !== 'EINVAL' && error.code !== 'ENOTSUP') throw error
}

const toIdentity = (stats: { dev: bigint; ino: bigint; mode: bigint; isFile: () => boolean }) => ({
  id: `${stats.dev}:${stats.ino}`,
  mode: Number(stats.mode) & 0o777,
  isFile: stats.isFile(),
})

/** Undefined when there is no such file. */
const identify = (path: string) => stat(path, { bigint: true }).then(toIdentity, unlessMissing)

/** Undefined for a stream without a descriptor. */
const identifyStream = (stream: object) =>
  'fd' in stream && typeof stream.fd === 'number' ? toIdentity(fstatSync(stream.fd, { bigint: true })) : undefined

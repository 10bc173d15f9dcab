import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { File } from './files.ts'

/** Files must be readable twice: anything but a regular file is copied to a private directory. The root may be read-only. */
export async function withRereadable<Result>(
  files: readonly File[],
  signal: AbortSignal,
  use: (files: File[]) => Promise<Result>,
) {
  if (files.every(({ bytes }) => bytes !== undefined)) return use([...files])
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-import-')).catch((cause) => {
    throw new Error(`Input of a pipe is copied, which failed: ${cause.message}. Set TMPDIR to a writable directory.`, {
      cause,
    })
  })
  try {
    const copied: File[] = []
    for (const [i, file] of files.entries()) {
      copied.push(file.bytes === undefined ? await copyFile(file, join(directory, String(i)), signal) : file)
    }
    return await use(copied)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function copyFile(file: File, path: string, signal: AbortSignal): Promise<File> {
  await pipeline(file.open(signal), createWriteStream(path, { mode: 0o600 }))
  return { ...file, bytes: (await stat(path)).size, open: () => createReadStream(path) }
}

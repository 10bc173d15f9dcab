import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import type { Removal } from '../../../routers/kernel/removal.ts'
import { removal } from '../../../routers/kernel/removal.ts'
import { logTo } from '../../process/log.ts'
import type { Io } from '../line/command.ts'

/**
 * Opens the list of `--log` before anything changes; without one, lines go to standard error only. Returns a function that writes
 * a line about a removal.
 */
export async function openRemovalLog({ stderr }: Io, path: string | undefined) {
  const file = path === undefined ? undefined : await open(path, 'a', 0o600)
  return {
    async write(done: Removal, more: object = {}) {
      let line = ''
      logTo({ write: (text) => (line = text) }, 'info').info({ ...done, ...more }, 'removed')
      stderr.write(line)
      const stored = file?.appendFile(line).then(() => file.sync())
      await stored?.catch((error: Error) => {
        throw new Error(`It was done, but the line above could not be added to ${path}: ${error.message}`)
      })
    },
    close: () => file?.close(),
  }
}

export type RemovalLog = Awaited<ReturnType<typeof openRemovalLog>>

const inLog = z.intersection(removal, z.object({ time: z.iso.datetime() }))

/** Tolerance for differing clocks when a line is compared with the time of a backup. */
const CLOCKS_MS = 60_000

/**
 * Removals in these files since a time, oldest first. The files are lists of `--log` or the service's logs, of which other lines
 * are skipped. Throws for a line that cannot be read.
 */
export async function readRemovals(paths: readonly string[], since: string): Promise<Removal[]> {
  const found: z.output<typeof inLog>[] = []
  for (const path of paths) {
    let number = 0
    for await (const written of createInterface({ input: createReadStream(path) })) {
      number++
      if (number === 1 && NO_TEXT.some((begin) => written.startsWith(begin)))
        throw new Error(`Nothing was repeated: ${path} is compressed or UTF-16. Name what gunzip or iconv makes of it.`)
      const place = `${path}, line ${number}`
      const line = unwrapped(written, place)
      if (line.includes('"repeat":')) found.push(parsed(line, place))
    }
  }
  const begin = Date.parse(since) - CLOCKS_MS
  return found.filter(({ time }) => Date.parse(time) >= begin).sort((a, b) => Date.parse(a.time) - Date.parse(b.time))
}

/** How files of gzip, zstd, xz and bzip2, and those with a mark of UTF-16, begin when they are read as UTF-8. */
const NO_TEXT = ['\x1f\ufffd', '(\ufffd/\ufffd', '\ufffd7zXZ', 'BZh', '\ufffd\ufffd']

/** Where Docker's json-file, journalctl and collectors put a line. */
const WRAPPERS = ['log', 'MESSAGE', 'message'] as const

/** The line of the service in a collector's line. A service's own line has other people's texts, which are not to be unwrapped. */
function unwrapped(line: string, place: string): string {
  if (!/\\"repeat\\"\s*:/.test(line)) return line
  const outer = readObject(line)
  const inner = WRAPPERS.map((name) => outer[name]).find((text) => typeof text === 'string' && text.startsWith('{'))
  if (inner !== undefined) return inner as string
  if ('level' in outer && 'msg' in outer) return line
  throw new Error(
    `Nothing was repeated: ${place} has the service's line in an unknown form. Give the log as it was written.`,
  )
}

function readObject(line: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(line.slice(line.indexOf('{'))))
  } catch {
    return {}
  }
}

/** A log collector may have added a prefix. */
function parsed(line: string, place: string) {
  try {
    return inLog.parse(JSON.parse(line.slice(line.indexOf('{'))))
  } catch (cause) {
    throw new Error(`Nothing was repeated: ${place} has been altered.`, { cause })
  }
}

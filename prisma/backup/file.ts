import type { Hash } from 'node:crypto'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { z } from 'zod'

/*
 * A backup is gzipped text: a line of JSON about it (Header), for each table a line of JSON (Section), its rows as COPY
 * writes them and the line `\.`, and at the end a line of JSON with the number of rows and the SHA-256 of all before it.
 */

const headerShape = z.object({
  format: z.literal('member-apps-backup 1'),
  takenAt: z.iso.datetime(),
  /** Those that had been applied, in their order. */
  migrations: z.array(z.object({ name: z.string(), checksum: z.string() })),
  /** The check value of SECRETS_KEY; null when no service has started on the database. */
  secretsKeyCheck: z.string().nullable(),
})
const sectionShape = z.object({ table: z.string(), columns: z.array(z.string()) })
const endShape = z.object({ rows: z.number(), sha256: z.string() })

export type Header = z.output<typeof headerShape>
export type Section = z.output<typeof sectionShape>

const NEWLINE = Buffer.from('\n')
const END_OF_ROWS = '\\.\n'
/** Of a line of JSON, in bytes: the columns of a table, the names of the migrations. */
const LONGEST_LINE = 1_000_000

/** Writes the text of a backup in chunks; `rowsOf` gives a table's rows as COPY writes them. */
export async function* backupText(
  header: Header,
  sections: readonly Section[],
  rowsOf: (section: Section) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  const hashed = (chunk: Buffer) => {
    hash.update(chunk)
    return chunk
  }
  let rows = 0
  yield hashed(line(header))
  for (const section of sections) {
    yield hashed(line(section))
    for await (const chunk of rowsOf(section)) {
      rows += countLines(chunk)
      yield hashed(chunk)
    }
    yield hashed(Buffer.from(END_OF_ROWS))
  }
  yield line({ rows, sha256: hash.digest('hex') })
}

/** What a reader does with a backup, in this order. Rows that it leaves unread are skipped. */
export interface Reader {
  header?(header: Header): Promise<void> | void
  section?(section: Section, rows: AsyncIterable<Buffer>): Promise<void>
}

/** Reads a whole backup and returns its number of rows. Throws when it is damaged or incomplete, or when the reader does. */
export async function readBackup(path: string, reader: Reader): Promise<number> {
  let rows = 0
  const consume = async (chunks: AsyncIterable<Buffer>) => {
    const text = new BackupText(chunks)
    const header = parse(headerShape, await text.line())
    await reader.header?.(header)
    for (;;) {
      const sha256 = text.digest()
      const next = parse(z.union([sectionShape, endShape]), await text.line())
      if ('sha256' in next) {
        if (next.sha256 !== sha256 || next.rows !== text.rowCount) throw new Error('its checksum does not match')
        await text.end()
        rows = next.rows
        return
      }
      const remaining = text.rows()
      await reader.section?.(next, remaining)
      for await (const _ of remaining);
    }
  }
  await pipeline(createReadStream(path), createGunzip(), consume)
  return rows
}

/** Takes lines, and the rows of tables, from chunks of any size. */
class BackupText {
  readonly #chunks: AsyncIterator<Buffer>
  readonly #hash: Hash = createHash('sha256')
  #unread: Buffer = Buffer.alloc(0)
  rowCount = 0

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** SHA-256 of all that was taken. */
  digest = () => this.#hash.copy().digest('hex')

  async line(): Promise<string> {
    for (;;) {
      const end = this.#unread.indexOf(NEWLINE)
      if (end >= 0) return this.#take(end + 1).toString()
      if (this.#unread.length > LONGEST_LINE) throw new Error('a line of it is too long')
      this.#unread = Buffer.concat([this.#unread, await this.#next()])
    }
  }

  /** The rows of a table, in chunks. A border of chunks may cut the line that ends them, so 3 bytes are held back. */
  async *rows(): AsyncGenerator<Buffer> {
    let isFirst = true
    for (;;) {
      const isEmpty = isFirst && this.#unread.indexOf(END_OF_ROWS) === 0
      const newline = isEmpty ? -1 : this.#unread.indexOf(`\n${END_OF_ROWS}`)
      if (isEmpty || newline >= 0) {
        if (!isEmpty) yield this.#takeRows(newline + 1)
        this.#take(END_OF_ROWS.length)
        return
      }
      const sure = this.#unread.length - END_OF_ROWS.length
      if (sure > 0) {
        isFirst = false
        yield this.#takeRows(sure)
      }
      this.#unread = Buffer.concat([this.#unread, await this.#next()])
    }
  }

  async end(): Promise<void> {
    const { done } = await this.#chunks.next()
    if (!done || this.#unread.length > 0) throw new Error('more follows its end')
  }

  #takeRows(length: number): Buffer {
    const chunk = this.#take(length)
    this.rowCount += countLines(chunk)
    return chunk
  }

  #take(length: number): Buffer {
    const taken = this.#unread.subarray(0, length)
    this.#unread = this.#unread.subarray(length)
    this.#hash.update(taken)
    return taken
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#chunks.next()
    if (done) throw new Error('its end is missing')
    return value
  }
}

function parse<Shape extends z.ZodType>(shape: Shape, text: string): z.output<Shape> {
  try {
    return shape.parse(JSON.parse(text))
  } catch (cause) {
    throw new Error('a line of it is not as expected', { cause })
  }
}

const line = (value: unknown) => Buffer.from(`${JSON.stringify(value)}\n`)

function countLines(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) count++
  return count
}

import { isUtf8 } from 'node:buffer'
import { FileFault } from './file-fault.ts'

/** The limit of a tRPC call's body; a record takes a few hundred bytes. */
export const LINE_LIMIT = 1024 * 1024

export const NEWLINE = 10
const BOM = Buffer.from('\ufeff')

/** Whole lines of a file; the last line of a file may lack its newline. */
export interface Block {
  bytes: Buffer
  /** The number of the first line, starting at 1. */
  line: number
}

/**
 * Cuts a file's bytes into blocks of whole lines, without the byte order mark. Throws a FileFault at the first line that is
 * longer than LINE_LIMIT or not UTF-8. Buffers one line and one chunk.
 */
export async function* blocksOf(source: AsyncIterable<Buffer>): AsyncGenerator<Block> {
  let line = 1
  const rest: Buffer[] = []
  let restBytes = 0
  for await (const chunk of withoutBom(source)) {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end > 0) {
      const bytes = Buffer.concat([...rest, chunk.subarray(0, end)])
      const lines = check(bytes, line)
      yield { bytes, line }
      line += lines
      rest.length = 0
      restBytes = 0
    }
    if (end < chunk.length) rest.push(chunk.subarray(end))
    restBytes += chunk.length - end
    if (restBytes > LINE_LIMIT) throw tooLong(line)
  }
  if (restBytes === 0) return
  const bytes = Buffer.concat(rest)
  check(bytes, line)
  yield { bytes, line }
}

/** Returns the number of lines that end in these bytes. */
function check(bytes: Buffer, first: number): number {
  const valid = isUtf8(bytes)
  let lines = 0
  for (let start = 0; start < bytes.length; lines++) {
    const newline = bytes.indexOf(NEWLINE, start)
    const end = newline === -1 ? bytes.length : newline
    if (end - start > LINE_LIMIT) throw tooLong(first + lines)
    if (!valid && !isUtf8(bytes.subarray(start, end))) {
      throw new FileFault(first + lines, 'It is not UTF-8: save the file in that encoding.')
    }
    start = end + 1
  }
  return lines
}

const tooLong = (line: number) =>
  new FileFault(line, `It is longer than ${LINE_LIMIT} bytes: a file has one record a line.`)

async function* withoutBom(source: AsyncIterable<Buffer>) {
  let first: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of source) {
    if (first === undefined) yield chunk
    else {
      first = Buffer.concat([first, chunk])
      if (first.length < BOM.length) continue
      yield first.subarray(0, BOM.length).equals(BOM) ? first.subarray(BOM.length) : first
      first = undefined
    }
  }
  if (first) yield first
}

import { isUtf8 } from 'node:buffer'
import { inUtf8 } from './encoding.ts'
import { FileFault } from './file-fault.ts'

/** The limit of a tRPC call's body; a record takes a few hundred bytes. */
export const LINE_LIMIT = 1024 * 1024

const LF = 10
const CR = 13
/** The breaks between lines. */
export const LINE_BREAKS = ['\r\n', '\n', '\r']

/** Whole lines of a file; the last line of a file may lack its line break. */
export interface Block {
  bytes: Buffer
  /** The number of the first line, starting at 1. */
  line: number
}

/**
 * Cuts a file's bytes into blocks of whole lines, in UTF-8. Lines end with LF, CRLF, or CR alone. Throws a FileFault at the first
 * line that is longer than LINE_LIMIT or not UTF-8. Buffers one line and one chunk.
 */
export async function* readBlocks(source: AsyncIterable<Buffer>): AsyncGenerator<Block> {
  let line = 1
  let rest: Buffer[] = []
  let restBytes = 0
  const toBlock = (bytes: Buffer): Block => {
    const block = { bytes, line }
    line += check(bytes, line)
    rest = []
    restBytes = 0
    return block
  }
  for await (const chunk of inUtf8(source)) {
    if (chunk.length === 0) continue
    // CR at the end of a chunk may be half of CRLF.
    if (rest.at(-1)?.at(-1) === CR && chunk[0] !== LF) yield toBlock(Buffer.concat(rest))
    const end = Math.max(chunk.lastIndexOf(LF), chunk.subarray(0, -1).lastIndexOf(CR)) + 1
    if (end > 0) yield toBlock(Buffer.concat([...rest, chunk.subarray(0, end)]))
    if (end < chunk.length) rest.push(chunk.subarray(end))
    restBytes += chunk.length - end
    if (restBytes > LINE_LIMIT + 1) throw tooLong(line)
  }
  if (restBytes > 0) yield toBlock(Buffer.concat(rest))
}

/** Returns the number of lines that end in these bytes. */
function check(bytes: Buffer, first: number): number {
  const valid = isUtf8(bytes)
  let lines = 0
  const next = (byte: number, start: number) => {
    const at = bytes.indexOf(byte, start)
    return at === -1 ? bytes.length : at
  }
  let [lf, cr] = [next(LF, 0), next(CR, 0)]
  for (let start = 0; start < bytes.length; lines++) {
    if (lf < start) lf = next(LF, start)
    if (cr < start) cr = next(CR, start)
    const end = Math.min(lf, cr)
    if (end - start > LINE_LIMIT) throw tooLong(first + lines)
    if (!valid && !isUtf8(bytes.subarray(start, end))) throw new FileFault(first + lines, NOT_UTF8)
    start = end === cr && lf === cr + 1 ? lf + 1 : end + 1
  }
  return lines
}

const NOT_UTF8 = 'It is not UTF-8: save the file in that encoding, in Excel as "CSV UTF-8".'

const tooLong = (line: number) =>
  new FileFault(line, `It is longer than ${LINE_LIMIT} bytes: a file has one record a line.`)

import { FileFault } from './file-fault.ts'

const UTF8_MARK = Buffer.from('\ufeff')
const UTF16_LE_MARK = Buffer.from([0xff, 0xfe])
const UTF16_BE_MARK = Buffer.from([0xfe, 0xff])
/** The first bytes of zip archives, as .xlsx, .ods and .numbers are, and of .xls. */
const WORKBOOKS = [Buffer.from('PK\u0003\u0004'), Buffer.from([0xd0, 0xcf, 0x11, 0xe0])]
/** A byte that UTF-8 never has: the check of lines refuses the line where it stands. */
const MALFORMED = Buffer.from([0xff])
const HEAD_BYTES = 4

/**
 * A file's bytes in UTF-8, without the byte order mark. UTF-16, as Excel writes "Unicode Text", is recognised by its mark, or by
 * the zero byte of its first character. Throws a FileFault for a workbook.
 */
export async function* inUtf8(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let order: 'LE' | 'BE' | undefined
  let begun = false
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of withWholeHead(source)) {
    let bytes = chunk
    if (!begun) {
      begun = true
      if (WORKBOOKS.some((mark) => startsWith(bytes, mark))) throw new FileFault(1, WORKBOOK)
      order = detectByteOrder(bytes)
      const mark = [UTF8_MARK, UTF16_LE_MARK, UTF16_BE_MARK].find((one) => startsWith(bytes, one))
      bytes = bytes.subarray(mark?.length ?? 0)
    }
    if (order === undefined) yield bytes
    else {
      bytes = Buffer.concat([rest, bytes])
      const end = endOfCharacters(bytes, order)
      rest = bytes.subarray(end)
      if (order === 'BE') bytes.subarray(0, end).swap16()
      yield toUtf8(bytes.toString('utf16le', 0, end))
    }
  }
  if (rest.length > 0) yield MALFORMED
}

const WORKBOOK = 'It is a workbook: save its sheet as CSV, in Excel as "CSV UTF-8".'

const startsWith = (bytes: Buffer, mark: Buffer) => bytes.subarray(0, mark.length).equals(mark)

function detectByteOrder(head: Buffer) {
  if (startsWith(head, UTF16_LE_MARK) || (head[0] !== 0 && head[1] === 0)) return 'LE'
  return startsWith(head, UTF16_BE_MARK) || (head[0] === 0 && head[1] !== 0 && head.length > 1) ? 'BE' : undefined
}

/** The length without half a unit, or the first half of a pair, at the end. */
function endOfCharacters(bytes: Buffer, order: 'LE' | 'BE'): number {
  const end = bytes.length - (bytes.length % 2)
  if (end === 0) return 0
  const last = order === 'LE' ? bytes.readUInt16LE(end - 2) : bytes.readUInt16BE(end - 2)
  return last >= 0xd800 && last < 0xdc00 ? end - 2 : end
}

function toUtf8(text: string): Buffer {
  const parts = text.split(/\p{Cs}/u)
  return Buffer.concat(parts.flatMap((part, i) => (i === 0 ? [Buffer.from(part)] : [MALFORMED, Buffer.from(part)])))
}

/** The first chunk has HEAD_BYTES or all bytes. */
async function* withWholeHead(source: AsyncIterable<Buffer>) {
  let head: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of source) {
    if (head === undefined) yield chunk
    else {
      head = Buffer.concat([head, chunk])
      if (head.length < HEAD_BYTES) continue
      yield head
      head = undefined
    }
  }
  if (head) yield head
}

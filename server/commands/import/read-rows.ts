import type { FieldDescription } from '../../../routers/directory/record-types.ts'
import type { Block } from './blocks.ts'
import { readBlocks } from './blocks.ts'
import { csvRows } from './csv.ts'
import { emptyFile, FileFault } from './file-fault.ts'
import type { File } from './files.ts'
import { separatorIn } from './header.ts'
import { ndjsonRows } from './ndjson.ts'
import { formatRowCount } from './refusals.ts'
import type { End, Row } from './rows.ts'
import { END_LINES } from './rows.ts'

interface Reading {
  /** Whether the last line must state the number of rows. */
  whole?: boolean
  onBytes?: (bytes: number) => void
  signal?: AbortSignal
}

/**
 * A file without a known extension is JSON or CSV by its first character. Throws a FileFault where it cannot be read on, is
 * empty, or has a row count that differs from its last line.
 */
export async function* readRows(
  file: Pick<File, 'format' | 'open'>,
  fields: readonly FieldDescription[],
  { whole = false, onBytes = () => {}, signal }: Reading = {},
): AsyncGenerator<Row> {
  const blocks = readBlocks(counted(file.open(signal), onBytes))
  let text = ''
  const seen: Block[] = []
  while (text.trim() === '') {
    const { value, done } = await blocks.next()
    if (done) throw emptyFile()
    seen.push(value)
    text = value.bytes.toString('latin1')
  }
  const format = file.format ?? (/^\s*[[{]/.test(text) ? 'ndjson' : 'csv')
  const all = chained(seen, blocks)
  let [rows, last] = [0, 1]
  let end: End | undefined
  for await (const one of format === 'ndjson' ? ndjsonRows(all, fields) : csvRows(all, fields, separatorIn(text))) {
    if (end) throw new FileFault(one.line, 'It follows the line that states the number of rows.')
    last = one.line
    if ('rows' in one) end = one
    else {
      rows += 1
      yield one
    }
  }
  if (end && end.rows !== rows) {
    throw new FileFault(end.line, `It states ${formatRowCount(end.rows)}, but there are ${rows} before it.`)
  }
  if (whole && !end) {
    const line = END_LINES[format]
    throw new FileFault(last, `With --full the last line must state the number of rows: ${line}. Or use --rows N.`)
  }
}

async function* counted(chunks: AsyncIterable<Buffer>, onBytes: (bytes: number) => void) {
  for await (const chunk of chunks) {
    yield chunk
    onBytes(chunk.length)
  }
}

async function* chained(first: readonly Block[], rest: AsyncIterable<Block>) {
  yield* first
  yield* rest
}

import type { FieldDescription } from '../../../routers/directory/kinds.ts'
import type { Block } from './blocks.ts'
import { blocksOf } from './blocks.ts'
import { csvRows } from './csv.ts'
import { emptyFile } from './file-fault.ts'
import type { File } from './files.ts'
import { ndjsonRows } from './ndjson.ts'
import type { Row } from './rows.ts'

/**
 * The rows of a file. Without a known ending of its name, its first character decides: that of JSON, or CSV. Throws a
 * FileFault where it cannot be read on, or is empty.
 */
export async function* readRows(
  file: Pick<File, 'format' | 'open'>,
  fields: readonly FieldDescription[],
  onBytes: (bytes: number) => void = () => {},
  signal?: AbortSignal,
): AsyncGenerator<Row> {
  const blocks = counted(blocksOf(file.open(signal)), onBytes)
  let text = ''
  const seen: Block[] = []
  while (text === '') {
    const { value, done } = await blocks.next()
    if (done) throw emptyFile()
    seen.push(value)
    text = value.bytes.toString('latin1').trim()
  }
  const format = file.format ?? (/^[[{]/.test(text) ? 'ndjson' : 'csv')
  const all = chained(seen, blocks)
  yield* format === 'ndjson' ? ndjsonRows(all) : csvRows(all, fields)
}

async function* counted(blocks: AsyncIterable<Block>, onBytes: (bytes: number) => void) {
  for await (const block of blocks) {
    yield block
    onBytes(block.bytes.length)
  }
}

async function* chained(first: readonly Block[], rest: AsyncIterable<Block>) {
  yield* first
  yield* rest
}

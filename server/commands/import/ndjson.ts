import type { Block } from './blocks.ts'
import { repeatedName } from './repeated-name.ts'
import type { End, Row } from './rows.ts'
import { rowsInRecord } from './rows.ts'

export async function* ndjsonRows(blocks: AsyncIterable<Block>): AsyncGenerator<Row | End> {
  for await (const { bytes, line } of blocks) {
    const lines = bytes.toString('utf8').split(/\r\n|\n|\r/)
    for (const [i, text] of lines.entries()) {
      if (text.trim() !== '') yield rowOf(line + i, text.trimEnd())
    }
  }
}

function rowOf(line: number, text: string): Row | End {
  try {
    const record = JSON.parse(text)
    const name = repeatedName(text)
    if (name === undefined) {
      const rows = rowsInRecord(record)
      return rows === undefined ? { line, record } : { line, rows }
    }
    return { line, record: text, refusal: { field: name.slice(0, 64), reason: 'It occurs twice in one object.' } }
  } catch (error) {
    return { line, record: text, refusal: { field: '', reason: `It is not JSON: ${(error as Error).message}.` } }
  }
}

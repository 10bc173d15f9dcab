import type { FieldDescription } from '../../../routers/directory/kinds.ts'
import type { Block } from './blocks.ts'
import { emptyValue } from './cells.ts'
import { repeatedName } from './repeated-name.ts'
import type { End, Row } from './rows.ts'
import { rowsInRecord } from './rows.ts'

/** A record on each line. A field that is null is empty, as a cell of CSV may be. */
export async function* ndjsonRows(
  blocks: AsyncIterable<Block>,
  fields: readonly FieldDescription[],
): AsyncGenerator<Row | End> {
  for await (const { bytes, line } of blocks) {
    const lines = bytes.toString('utf8').split(/\r\n|\n|\r/)
    for (const [i, text] of lines.entries()) {
      if (text.trim() !== '') yield rowOf(line + i, text.trimEnd(), fields)
    }
  }
}

function rowOf(line: number, text: string, fields: readonly FieldDescription[]): Row | End {
  try {
    const record = JSON.parse(text)
    const name = repeatedName(text)
    if (name === undefined) {
      const rows = rowsInRecord(record)
      if (rows !== undefined) return { line, rows }
      return { line, record: text.includes('null') ? withoutNulls(record, fields) : record }
    }
    return { line, record: text, refusal: { field: name.slice(0, 64), reason: 'It occurs twice in one object.' } }
  } catch (error) {
    return { line, record: text, refusal: { field: '', reason: `It is not JSON: ${(error as Error).message}.` } }
  }
}

/** Nulls of unknown fields stay, which the record's validation refuses. */
function withoutNulls(record: unknown, fields: readonly FieldDescription[]): unknown {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return record
  const entries = Object.entries(record).flatMap(([name, value]) => {
    const field = fields.find((one) => one.name === name)
    if (field?.type === 'questions' && Array.isArray(value)) return [[name, value.map(withoutNullParts)] as const]
    const given = field && value === null ? emptyValue(field) : value
    return given === undefined ? [] : [[name, given] as const]
  })
  return Object.fromEntries(entries)
}

/** Of a question, options and solution may be omitted. */
const withoutNullParts = (question: unknown) =>
  typeof question === 'object' && question !== null && !Array.isArray(question)
    ? Object.fromEntries(Object.entries(question).filter(([, value]) => value !== null))
    : question

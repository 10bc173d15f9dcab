import type { FieldDescription } from '../../../routers/directory/record-types.ts'
import type { Block } from './blocks.ts'
import { emptyValue } from './cells.ts'
import type { End, Row } from './rows.ts'
import { rowsInRecord } from './rows.ts'

/** Matches the strings of a JSON text (a name with its colon) and the braces of its objects. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?|[{}]/g

/** Returns the first duplicate name within an object, or undefined; JSON.parse uses the last value. */
function repeatedName(text: string): string | undefined {
  const open: Set<string>[] = []
  for (const token of text.match(TOKEN) ?? []) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (token.endsWith(':')) {
      const name: string = JSON.parse(token.slice(0, -1))
      const names = open.at(-1)!
      if (names.has(name)) return name
      names.add(name)
    }
  }
  return undefined
}

/** A record on each line. A field that is null is empty, as a cell of CSV may be. */
export async function* ndjsonRows(
  blocks: AsyncIterable<Block>,
  fields: readonly FieldDescription[],
): AsyncGenerator<Row | End> {
  for await (const { bytes, line } of blocks) {
    const text = bytes.toString('utf8')
    const lines = text.split(text.includes('\r') ? /\r\n|\n|\r/ : '\n')
    for (const [i, one] of lines.entries()) {
      if (one.trim() !== '') yield readRow(line + i, one.trimEnd(), fields)
    }
  }
}

function readRow(line: number, text: string, fields: readonly FieldDescription[]): Row | End {
  try {
    const record = JSON.parse(text)
    const name = repeatedName(text)
    if (name === undefined) {
      const rows = rowsInRecord(record)
      if (rows !== undefined) return { line, rows }
      if (text.includes('null')) fillNulls(record, fields)
      return { line, record }
    }
    return { line, record: text, refusal: { field: name.slice(0, 64), reason: 'It occurs twice in one object.' } }
  } catch (error) {
    return { line, record: text, refusal: { field: '', reason: `It is not JSON: ${(error as Error).message}.` } }
  }
}

/** Changes the record; nulls of unknown fields stay, which its validation refuses. */
function fillNulls(record: unknown, fields: readonly FieldDescription[]) {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return
  const values = record as Record<string, unknown>
  for (const field of fields) {
    const { name, type, nullable } = field
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (type === 'questions' && Array.isArray(value)) values[name] = value.map(withoutNullParts)
    if (value !== null || nullable) continue
    values[name] = emptyValue(field)
    if (values[name] === undefined) delete values[name]
  }
}

/** A question may omit its options and solution. */
const withoutNullParts = (question: unknown) =>
  typeof question === 'object' && question !== null && !Array.isArray(question)
    ? Object.fromEntries(Object.entries(question).filter(([, value]) => value !== null))
    : question

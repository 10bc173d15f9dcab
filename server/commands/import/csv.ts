import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CsvError, parse } from 'csv-parse'
import type { FieldDescription } from '../../../routers/directory/kinds.ts'
import type { Block } from './blocks.ts'
import { LINE_LIMIT, NEWLINE } from './blocks.ts'
import { readCell } from './cells.ts'
import { emptyFile, FileFault } from './file-fault.ts'
import type { End, Row } from './rows.ts'
import { rowsInCells } from './rows.ts'

/**
 * Rows of CSV (RFC 4180) whose header names the kind's fields, in any order. Empty lines are skipped. Throws a FileFault where
 * quotes are wrong, as the next row may then begin anywhere, and at a last cell without a line break, as it may have been cut
 * off.
 */
export async function* csvRows(
  blocks: AsyncIterable<Block>,
  fields: readonly FieldDescription[],
): AsyncGenerator<Row | End> {
  let columns: FieldDescription[] | undefined
  let width = 0
  const cut: Cut = { line: undefined }
  for await (const { line, cells } of parsed(bytesOf(blocks, cut))) {
    width = cells.length
    if (columns) yield rowOf(line, columns, cells)
    else columns = columnsOf(line, cells, fields)
  }
  if (!columns) throw emptyFile()
  if (cut.line === undefined) return
  const reason = 'The file ends in this cell, as one that is cut off: a CSV file ends with a line break.'
  throw new FileFault(cut.line, [columns[width - 1]?.name, reason].filter(Boolean).join(': '))
}

/** The last line, if it has no line break. */
interface Cut {
  line: number | undefined
}

async function* parsed(bytes: AsyncIterable<Buffer>) {
  const begins = new WeakMap<string[], number>()
  // csv-parse counts CRLF between quotes as two lines.
  let surplus = 0
  let lastLine = 0
  const parser = parse({
    ...{ relax_column_count: true, skip_empty_lines: true, skip_records_with_empty_values: true },
    record_delimiter: ['\r\n', '\n'],
    max_record_size: LINE_LIMIT,
    // Called within the parser, which may throw before a row of the same block is read from it.
    on_record(cells, { lines }) {
      surplus += count(cells, /\r\n/g)
      lastLine = lines - surplus
      begins.set(cells, lastLine - count(cells, /\r?\n|\r/g))
      return cells
    },
  })
  const fed = pipeline(Readable.from(bytes), parser)
  fed.catch(() => {}) // the parser throws it too
  try {
    for await (const cells of parser as AsyncIterable<string[]>) yield { line: begins.get(cells)!, cells }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const { code, message, lines } = error
    const unclosed = code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE'
    throw new FileFault(unclosed ? lastLine + 1 : Number(lines) - surplus, sentences[code] ?? message)
  }
}

async function* bytesOf(blocks: AsyncIterable<Block>, cut: Cut) {
  for await (const { bytes, line } of blocks) {
    if (bytes.at(-1) !== NEWLINE && bytes.toString('latin1').trim() !== '') cut.line = line
    yield bytes
  }
}

const count = (cells: readonly string[], pattern: RegExp) =>
  cells.reduce((sum, cell) => sum + (/[\r\n]/.test(cell) ? (cell.match(pattern)?.length ?? 0) : 0), 0)

const sentences: Partial<Record<CsvError['code'], string>> = {
  CSV_QUOTE_NOT_CLOSED: 'It begins a row that does not end: a closing quote is missing.',
  CSV_MAX_RECORD_SIZE: `It begins a row of more than ${LINE_LIMIT} characters: is a closing quote missing?`,
  CSV_INVALID_CLOSING_QUOTE: 'It has text after a closing quote. A quote within quotes must be doubled.',
  INVALID_OPENING_QUOTE: 'It has a quote within a cell that does not begin with one.',
}

function columnsOf(line: number, cells: readonly string[], fields: readonly FieldDescription[]) {
  const names = cells.map((cell) => cell.trim())
  const known = `The header names fields: ${fields.map(({ name }) => name).join(', ')}.`
  if (names.length === 1 && /[;\t]/.test(names[0]!))
    throw new FileFault(line, `It has no commas between columns. ${known}`)
  return names.map((name, i) => {
    const field = fields.find((one) => one.name === name)
    if (!field) throw new FileFault(line, `There is no field ${JSON.stringify(name)}. ${known}`)
    if (names.indexOf(name) !== i) throw new FileFault(line, `It has the column ${name} twice.`)
    if (field.type === 'questions') throw new FileFault(line, `It has the column ${name}, which only NDJSON can hold.`)
    return field
  })
}

function rowOf(line: number, columns: readonly FieldDescription[], cells: readonly string[]): Row | End {
  const rows = rowsInCells(cells)
  if (rows !== undefined) return { line, rows }
  const refused = (field: string, reason: string) => ({ line, record: cells, refusal: { field, reason } })
  if (cells.length !== columns.length) {
    return refused('', `It has ${cells.length} cells, and the header ${columns.length}.`)
  }
  const record: Record<string, unknown> = {}
  for (const [i, column] of columns.entries()) {
    const read = readCell(cells[i]!, column)
    if ('reason' in read) return refused(column.name, read.reason)
    if (read.value !== undefined) record[column.name] = read.value
  }
  return { line, record }
}

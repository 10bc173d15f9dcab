import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CsvError, parse } from 'csv-parse'
import type { FieldDescription } from '../../../routers/directory/record-types.ts'
import { shown } from '../../../routers/directory/refusals.ts'
import type { Block } from './blocks.ts'
import { LINE_BREAKS, LINE_LIMIT } from './blocks.ts'
import { readCell } from './cells.ts'
import { emptyFile, FileFault } from './file-fault.ts'
import type { Columns } from './header.ts'
import { isSeparatorLine, matchColumns } from './header.ts'
import type { End, Refusal, Row } from './rows.ts'
import { END_LINES, rowsInCells } from './rows.ts'

/**
 * Rows of CSV (RFC 4180) whose header names the kind's fields, in any order, and a column without a name is empty. Empty lines are
 * skipped, and so is Excel's line `sep=;`. Throws a FileFault where quotes are wrong, as the next row may then begin anywhere, and
 * at a last cell without a line break, as it may have been cut off.
 */
export async function* csvRows(
  blocks: AsyncIterable<Block>,
  fields: readonly FieldDescription[],
  separator: string,
): AsyncGenerator<Row | End> {
  let columns: Columns | undefined
  let width = 0
  let ended = false
  const cut: Cut = { line: undefined }
  for await (const { line, cells } of parsed(readBytes(blocks, cut), separator)) {
    if (cells.every((cell) => cell.trim() === '')) continue
    width = cells.length
    if (columns) {
      const row = readRow(line, columns, cells)
      ended = 'rows' in row && isWhole(cells[0]!, row)
      yield row
    } else if (!isSeparatorLine(cells)) columns = matchColumns(line, cells, fields)
  }
  if (!columns) throw emptyFile()
  if (cut.line === undefined || ended) return
  const reason = `The file ends in this cell, as one that is cut off: a CSV file ends with a line break, or the line ${END_LINES.csv}.`
  throw new FileFault(cut.line, [columns[width - 1]?.name, reason].filter(Boolean).join(': '))
}

/** Whether a last line without a line break cannot be a part of `# 12 rows`. */
const isWhole = (cell: string, { rows }: End) => rows === 1 || cell.trim().endsWith('rows')

/** The last line, if it has no line break. */
interface Cut {
  line: number | undefined
}

async function* parsed(bytes: AsyncIterable<Buffer>, separator: string) {
  const begins = new WeakMap<string[], number>()
  // csv-parse counts CRLF between quotes as two lines.
  let surplus = 0
  let [lastLine, emptyLines] = [0, 0]
  const parser = parse({
    delimiter: separator,
    record_delimiter: LINE_BREAKS,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: LINE_LIMIT,
    // Called within the parser, which may throw before a row of the same block is read from it.
    on_record(cells, { lines, empty_lines }) {
      surplus += count(cells, /\r\n/g)
      lastLine = lines - surplus
      emptyLines = empty_lines
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
    const { code, message, empty_lines } = error
    throw new FileFault(lastLine + 1 + Number(empty_lines) - emptyLines, sentences[code] ?? message)
  }
}

async function* readBytes(blocks: AsyncIterable<Block>, cut: Cut) {
  for await (const { bytes, line } of blocks) {
    const text = /[\r\n]$/.test(bytes.toString('latin1', bytes.length - 1)) ? '' : bytes.toString('latin1')
    if (text.trim() !== '') cut.line = line
    yield bytes
  }
}

const count = (cells: readonly string[], pattern: RegExp) =>
  cells.reduce((sum, cell) => sum + (/[\r\n]/.test(cell) ? (cell.match(pattern)?.length ?? 0) : 0), 0)

const sentences: Partial<Record<CsvError['code'], string>> = {
  CSV_QUOTE_NOT_CLOSED: 'It begins a row that does not end: a closing quote is missing.',
  CSV_MAX_RECORD_SIZE: `It begins a row of more than ${LINE_LIMIT} characters: is a closing quote missing?`,
  CSV_INVALID_CLOSING_QUOTE:
    'It begins a row that has text after a closing quote. A quote within quotes must be doubled.',
  INVALID_OPENING_QUOTE: 'It begins a row that has a quote within a cell that does not begin with one.',
}

function readRow(line: number, columns: Columns, cells: readonly string[]): Row | End {
  const rows = rowsInCells(cells)
  if (rows !== undefined) return { line, rows }
  const refused = (field: string, reason: string) => ({ line, record: cells, refusal: { field, reason } })
  if (cells.length > columns.length || columns.slice(cells.length).some((column) => column !== undefined)) {
    return refused('', `It has ${cells.length} cells, and the header ${columns.length}.`)
  }
  const record: Record<string, unknown> = {}
  let doubt: Refusal | undefined
  for (const [i, cell] of cells.entries()) {
    const column = columns[i]
    if (!column) {
      if (cell.trim() === '') continue
      return refused('', `It has ${shown(cell)} in column ${i + 1}, which has no name in the header.`)
    }
    const read = readCell(cell, column)
    if ('reason' in read) return refused(column.name, read.reason)
    if (read.value !== undefined) record[column.name] = read.value
    if (read.doubt !== undefined) doubt ??= { field: column.name, reason: read.doubt }
  }
  return { line, record, ...(doubt && { doubt }) }
}

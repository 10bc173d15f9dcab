import type { FieldDescription } from '../../../routers/directory/record-types.ts'
import { shown } from '../../../routers/directory/refusals.ts'

/**
 * The value is undefined when the field is omitted; `doubt` says why it may not be what was meant. `reason` says why the cell has
 * no value.
 */
type Read = { value: unknown; doubt?: string } | { reason: string }

type Field = Pick<FieldDescription, 'type' | 'nullable'>

/**
 * Null where the field may be null, an empty list, or an empty text; any other empty field is omitted. It is the value of an
 * empty cell, and of null in NDJSON.
 */
export function emptyValue({ type, nullable }: Field) {
  if (nullable) return null
  if (type === 'list' || type === 'questions') return []
  return type === 'text' ? '' : undefined
}

/** Reads a cell as Excel, LibreOffice, Numbers or Google Sheets write it in English or German. Space around it does not count. */
export function readCell(written: string, field: Field): Read {
  const cell = written.trim()
  if (cell === '') return { value: emptyValue(field) }
  if (FORMULA_ERROR.test(cell))
    return { reason: `${shown(cell)} stands for a value that a spreadsheet could not show.` }
  switch (field.type) {
    case 'list':
      return readList(cell)
    case 'number':
      return readNumber(cell)
    case 'time':
      return readTime(cell)
    case 'boolean':
      return { value: TRUE.test(cell) || (!FALSE.test(cell) && cell) }
    default:
      return doubtful(cell)
  }
}

// A value that has none of these forms stays text, which the record's validation refuses.

const TRUE = /^(?:true|wahr)$/i
const FALSE = /^(?:false|falsch)$/i

/** `#REF!`, `#NV`, `#DIV/0!`, `#NAME?`, `Err:502`; and `###`, of a column that is too narrow. */
const FORMULA_ERROR =
  /^(?:#(?:BEZUG|BLOCKED|CALC|DIV\/0|ERROR|FIELD|KALK|NAME|NULL|NUM|REF|SPILL|VALUE|WERT|ZAHL|ÜBERLAUF)[!?]|#N\/A|#NV|#{3,}|Err:\d{3})$/

const NUMBER = /^-?\d+(?:\.\d+)?$/
/** Three digits after the comma of up to three others may be thousands: `1,234`. */
const DECIMAL_COMMA = /^-?(?:\d+,(?!\d{3}$)\d+|0,\d+|\d{4,},\d+)$/
const OF_DIGITS = /^[-+\u2212]?\d[\d.,'\u2019\s]*$/
const EXPONENT = /^[-+]?\d+(?:[.,]\d+)?E[-+]?\d+$/i

function readNumber(cell: string): Read {
  if (NUMBER.test(cell)) return { value: Number(cell) }
  if (DECIMAL_COMMA.test(cell)) return { value: Number(cell.replace(',', '.')) }
  if (EXPONENT.test(cell)) return { reason: shortened(cell) }
  return OF_DIGITS.test(cell)
    ? { reason: `${shown(cell)} is not of the form 1234.5: a point before decimals, nothing between thousands.` }
    : { value: cell }
}

/** The number of a day since 1900, as of a cell without the format of a date; and a date without hyphens. */
const DAY = /^(?:[1-7]\d{4}(?:\.\d+)?|(?:19|20)\d{6})$/

function readTime(cell: string): Read {
  if (EXPONENT.test(cell)) return { reason: shortened(cell) }
  if (!NUMBER.test(cell)) return { value: cell }
  if (!DAY.test(cell)) return { value: Number(cell) }
  return {
    value: Number(cell),
    doubt: `${shown(cell)} is taken as Unix seconds, a time of 1970, and looks like a date.`,
  }
}

const shortened = (cell: string) =>
  `${shown(cell)} is a number that a spreadsheet has shortened: give the column a format that shows all digits.`

/** As a spreadsheet shows long numbers, and texts like 1E5. */
const SHORTENED_ID = /^-?\d(?:[.,]\d+)?E\+?\d{2,}$/i

const doubtful = (text: string): Read =>
  SHORTENED_ID.test(text) ? { value: text, doubt: looksShortened(text) } : { value: text }

const looksShortened = (text: string) =>
  `${shown(text)} is taken as it is, and looks like a number that a spreadsheet has shortened.`

/** Texts separated by semicolons; a text that contains one requires a JSON array. */
function readList(cell: string): Read {
  if (!cell.startsWith('[')) {
    const texts = cell.split(';').flatMap((text) => text.trim() || [])
    const doubted = texts.find((text) => SHORTENED_ID.test(text))
    return { value: texts, ...(doubted !== undefined && { doubt: looksShortened(doubted) }) }
  }
  try {
    return { value: JSON.parse(cell) }
  } catch {
    return { reason: 'It begins with [ and is not a JSON array.' }
  }
}

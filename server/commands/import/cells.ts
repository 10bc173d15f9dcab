import type { FieldDescription } from '../../../routers/directory/kinds.ts'

/** The value is undefined when the field is omitted; `reason` says why the cell has none. */
type Read = { value: unknown } | { reason: string }

/** An empty cell is null where the field may be null, an empty list, or an empty text; any other empty field is omitted. */
export function readCell(cell: string, { type, nullable }: FieldDescription): Read {
  if (cell === '') {
    if (nullable) return { value: null }
    if (type === 'list') return { value: [] }
    return { value: type === 'text' ? '' : undefined }
  }
  if (type === 'list') return listOf(cell)
  if ((type === 'number' || type === 'time') && NUMBER.test(cell)) return { value: Number(cell) }
  if (type === 'boolean' && (cell === 'true' || cell === 'false')) return { value: cell === 'true' }
  // The record's validation defines the forms of numbers and booleans.
  return { value: cell }
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Texts separated by semicolons; a text that contains one requires a JSON array. */
function listOf(cell: string): Read {
  if (!cell.startsWith('[')) return { value: cell.split(';').map((text) => text.trim()) }
  try {
    return { value: JSON.parse(cell) }
  } catch {
    return { reason: 'It begins with [ and is not a JSON array.' }
  }
}

import type { FieldDescription } from '../../../routers/directory/kinds.ts'

/** A value, undefined when the field is left out; or why the cell has none. */
type Read = { value: unknown } | { reason: string }

/**
 * The value of a cell. An empty one is null where the field may be null, an empty list, or an empty text; any other field
 * is left out.
 */
export function readCell(cell: string, { type, nullable }: FieldDescription): Read {
  if (cell === '') {
    if (nullable) return { value: null }
    if (type === 'list') return { value: [] }
    return { value: type === 'text' ? '' : undefined }
  }
  if (type === 'list') return listOf(cell)
  if ((type === 'number' || type === 'time') && NUMBER.test(cell)) return { value: Number(cell) }
  if (type === 'boolean' && (cell === 'true' || cell === 'false')) return { value: cell === 'true' }
  // The check of the record says what a number or a boolean looks like.
  return { value: cell }
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Texts between semicolons; a text that has one itself needs a JSON array. */
function listOf(cell: string): Read {
  if (!cell.startsWith('[')) return { value: cell.split(';').map((text) => text.trim()) }
  try {
    return { value: JSON.parse(cell) }
  } catch {
    return { reason: 'It begins with [ and is not a JSON array.' }
  }
}

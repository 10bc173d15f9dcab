import { printable } from './printable.ts'

/** Cells are lists of lines; columns are as wide as their content. */
export function table(rows: readonly (readonly (readonly string[])[])[]) {
  const lines = rows.flatMap((cells) => {
    const height = Math.max(...cells.map((cell) => cell.length))
    return Array.from({ length: height }, (_, line) => cells.map((cell) => printable(cell[line] ?? '')))
  })
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)))
  return lines
    .map((cells) => `${cells.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('')
}

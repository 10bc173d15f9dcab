/** Columns as wide as what is in them; a cell of several lines goes on below. */
export function table(rows: readonly (readonly (readonly string[])[])[]) {
  const lines = rows.flatMap((cells) => {
    const height = Math.max(...cells.map((cell) => cell.length))
    return Array.from({ length: height }, (_, line) => cells.map((cell) => cell[line] ?? ''))
  })
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)))
  return lines
    .map((cells) => `${cells.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('')
}

/** Control characters in stored text would affect the terminal, and direction characters the order of a line. */
export const printable = (text: string) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )

/** The same of several lines. */
export const printableLines = (text: string) => text.split('\n').map(printable).join('\n')

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

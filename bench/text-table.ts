/** Lines of a table for a terminal; text to the left, figures to the right. */
export function textTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]!.length)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (isText(rows, i) ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  ')
      .trimEnd()
  return [line(columns), ...rows.map(line)].join('\n')
}

/** The same in Markdown. */
export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rule = columns.map((_, i) => (isText(rows, i) ? '---' : '--:'))
  return [line(columns), line(rule), ...rows.map(line)].join('\n')
}

const isText = (rows: readonly (readonly string[])[], i: number) => rows.some((row) => /^[a-z]/i.test(row[i]!))

/** Parses a Markdown table into one record per row, keyed by the header. Back-ticks are dropped. */
export function table<Name extends string>(text: string): Record<Name, string>[] {
  const lines = text.trim().split('\n')
  const rows = lines.map((line) =>
    line
      .trim()
      .replace(/^\||\|$/g, '')
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
  const [names, , ...body] = rows
  return body.map(
    (cells) => Object.fromEntries(names!.map((name, i) => [name, cells[i] ?? ''])) as Record<Name, string>,
  )
}

/** Reads a markdown table: one record a row, by the names of its head. Back-ticks and the rule below the head are dropped. */
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

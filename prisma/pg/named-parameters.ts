/** Strings, identifiers, comments and dollar-quoted bodies, in which PostgreSQL knows no parameter; and parameters. */
const TOKEN =
  /\be'(?:\\.|''|[^'\\])*'|'(?:''|[^'])*'|"(?:""|[^"])*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(?<tag>\w*)\$[\s\S]*?\$\k<tag>\$|\$(?<name>\w+)/giu

/** SQL with `$name` as `$1`, `$2`, … in the order of `names`. Throws when it has another parameter, or lacks one. */
export function numberParameters(sql: string, names: readonly string[]): string {
  const used = new Set<string>()
  const numbered = sql.replace(TOKEN, (token, ...found) => {
    const { name } = found.at(-1) as { name?: string }
    if (name === undefined) return token
    used.add(name)
    return `$${names.indexOf(name) + 1}`
  })
  const unknown = [...used].find((name) => !names.includes(name))
  if (unknown !== undefined) throw new Error(`The parameter $${unknown} is not declared.`)
  const unused = names.find((name) => !used.has(name))
  if (unused !== undefined) throw new Error(`The parameter ${unused} is declared, but not used.`)
  return numbered
}

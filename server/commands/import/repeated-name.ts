/** The strings of a JSON text, those that are names with their colon, and where its objects begin and end. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?|[{}]/g

/** The first name that an object of this JSON text has twice; undefined without any. JSON.parse takes the last value. */
export function repeatedName(text: string): string | undefined {
  const open: Set<string>[] = []
  for (const token of text.match(TOKEN) ?? []) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (token.endsWith(':')) {
      const name: string = JSON.parse(token.slice(0, -1))
      const names = open.at(-1)!
      if (names.has(name)) return name
      names.add(name)
    }
  }
  return undefined
}

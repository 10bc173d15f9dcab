/** Matches the strings of a JSON text (a name with its colon) and the braces of its objects. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?|[{}]/g

/** Returns the first duplicate name within an object, or undefined; JSON.parse uses the last value. */
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

/** How often a header was sent; `headers` has only the first of some. `name` is in lower case. */
export function headerCount(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i]!
    if (sent.length === name.length && sent.toLowerCase() === name) count++
  }
  return count
}

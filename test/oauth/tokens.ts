const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

const decoded = (text: string) =>
  text.replace(/&([^;]*);/g, (all, name: string) => {
    if (!(name in entities)) throw new Error(`No entity of ours: ${all.slice(0, 20)}`)
    return entities[name]!
  })

/** One step of a reader that knows nothing but text, and tags whose attributes have names and double quotes. */
const TOKEN = /<(?:!doctype html|\/?[a-z][a-z0-9]*(?:\s[a-zA-Z-]+(?:="[^"]*")?)*\/?)>|[^<]+/y
const ATTRIBUTE = /\s([a-zA-Z-]+)(?:="([^"]*)")?/g

/** Takes a page apart: its tags and attribute names in their order, and what stands in texts and attributes. */
export function tokens(page: string): { skeleton: string; texts: string[] } {
  const skeleton: string[] = []
  const texts: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < page.length) {
    const at = TOKEN.lastIndex
    const [token] = TOKEN.exec(page) ?? []
    if (token === undefined) throw new Error(`No tag of ours: ${page.slice(at, at + 40)}`)
    if (!token.startsWith('<')) {
      texts.push(decoded(token))
      continue
    }
    const attributes = [...token.matchAll(ATTRIBUTE)]
    skeleton.push([/^<\/?[a-z!]+\d?/.exec(token)![0], ...attributes.map(([, name]) => name)].join(' '))
    texts.push(...attributes.map(([, , value]) => decoded(value ?? '')))
  }
  return { skeleton: skeleton.join('\n'), texts }
}

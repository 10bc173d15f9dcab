const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

const decoded = (text: string) =>
  text.replace(/&([^;]*);/g, (all, name: string) => {
    if (!(name in entities)) throw new Error(`No entity of ours: ${all.slice(0, 20)}`)
    return entities[name]!
  })

/** One token: text, or a tag whose attributes have double quotes. */
const TOKEN = /<(?:!doctype html|\/?[a-z][a-z0-9]*(?:\s[a-zA-Z-]+(?:="[^"]*")?)*\/?)>|[^<]+/y
const ATTRIBUTE = /\s([a-zA-Z-]+)(?:="([^"]*)")?/g

/** Splits a page into its skeleton (tags and attribute names in order) and its texts and attribute values. */
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

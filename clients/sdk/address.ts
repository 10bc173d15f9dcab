type Query = Record<string, string | number | undefined>

/** Without `URL`, as React Native's own cannot do this. */
export function withQuery(address: string, query: Query): string {
  const pairs = Object.entries(query).filter((pair): pair is [string, string | number] => pair[1] !== undefined)
  const text = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
  return text ? `${address}?${text}` : address
}

/** A reference with its own scheme, or from the root of `base`'s host; undefined without a `base`. */
export function resolved(reference: string, base: string): string | undefined {
  if (/^[a-z][a-z\d+.-]*:/i.test(reference)) return reference
  const [origin] = /^[a-z][a-z\d+.-]*:\/\/[^/?#]+/i.exec(base) ?? []
  return origin && reference.startsWith('/') ? origin + reference : undefined
}

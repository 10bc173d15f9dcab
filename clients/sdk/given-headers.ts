type Value = string | readonly (string | { value: string })[] | undefined

/**
 * Headers as any server has them, names in any case: an object, whose values may be lists (Node, Fastify, Lambda, CloudFront);
 * `Headers`, a `Map`, or pairs; Node's `rawHeaders`; or what has `get(name)`, as the requests of Express and Koa.
 */
export type GivenHeaders =
  | { get(name: string): unknown }
  | Iterable<readonly [string, string | readonly string[]]>
  | readonly string[]
  | { readonly [name: string]: Value }

const isIterable = (given: object): given is Iterable<unknown> => Symbol.iterator in given

function listPairs(given: object): [unknown, unknown][] {
  if (!isIterable(given)) return Object.entries(given)
  const all = [...given]
  if (all.every((one) => Array.isArray(one))) return all as [unknown, unknown][]
  return all.flatMap((name, i): [unknown, unknown][] => (i % 2 === 0 ? [[name, all[i + 1]]] : []))
}

function listTexts(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(listTexts)
  if (value === null || value === undefined) return []
  const text = typeof value === 'object' && 'value' in value ? value.value : value
  return [String(text).trim()].filter(Boolean)
}

/** All values of a header, none twice. `name` is in lower case. */
export function readValues(given: GivenHeaders | null | undefined, name: string): string[] {
  const headers: { get?: unknown } = Object(given)
  const named = listPairs(headers)
    .filter(([own]) => String(own).toLowerCase() === name)
    .flatMap(([, value]) => listTexts(value))
  return [...new Set(named.length > 0 ? named : gotten(headers, name))]
}

function gotten(headers: { get?: unknown }, name: string): string[] {
  if (typeof headers.get !== 'function') return []
  for (const spelling of [name, name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())]) {
    const found = listTexts(headers.get(spelling))
    if (found.length > 0) return found
  }
  return []
}

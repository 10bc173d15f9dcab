const MAX_LENGTH = 1_000

const readPlaceholders = (text: string) => new Set([...text.matchAll(/\{(\w+)\}/g)].map(([placeholder]) => placeholder))

function findFault(text: unknown, replaced: string): string | undefined {
  if (typeof text !== 'string' || text.trim() === '') return 'is not a text'
  if (text.length > MAX_LENGTH) return `has more than ${MAX_LENGTH} characters`
  const [own, needed] = [readPlaceholders(text), readPlaceholders(replaced)]
  const missing = [...needed].find((placeholder) => !own.has(placeholder))
  if (missing !== undefined) return `lacks ${missing}`
  const unknown = [...own].find((placeholder) => !needed.has(placeholder))
  return unknown && `has ${unknown}, which has no value there`
}

const isTree = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A line for each of `texts` that cannot replace the one of the same name in `replaced`. */
export function findFaults(texts: unknown, replaced: unknown, path = ''): string[] {
  if (typeof replaced === 'string') {
    const fault = findFault(texts, replaced)
    return fault === undefined ? [] : [`${path} ${fault}`]
  }
  if (!isTree(texts) || !isTree(replaced)) return [`${path || 'it'} is not an object of texts`]
  return Object.entries(texts).flatMap(([name, text]) => {
    const place = path === '' ? name : `${path}.${name}`
    return Object.hasOwn(replaced, name)
      ? findFaults(text, replaced[name], place)
      : [`${place} is not a text of the pages`]
  })
}

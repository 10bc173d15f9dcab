import type { Json } from './openapi-operation.ts'

const MAX_INT32 = 2 ** 31 - 1

/** Gives integers beyond 32 bits their format: typed generators take an integer without one for an int32. */
export function withFormats<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map(withFormats) as Part
  if (typeof part !== 'object' || part === null) return part
  const { type, format = 'int64', maximum = Number.MAX_SAFE_INTEGER } = part as Json
  const isLong = [type].flat().includes('integer') && Number(maximum) > MAX_INT32
  const entries = Object.entries(part).map(([key, value]) => [key, isValue(key) ? value : withFormats(value)])
  return { ...Object.fromEntries(entries), ...(isLong && { format }) }
}

/** Values of clients may look like schemas. */
const isValue = (key: string) => key === 'example' || key === 'examples'

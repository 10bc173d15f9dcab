import { inputError } from '../routers/kernel/endpoint.ts'
import { errors } from '../routers/kernel/errors.ts'
import { readDefinition } from '../routers/kernel/trpc-internals.ts'
import type { Body, RawInput } from './body.ts'
import { isJson, rawField, readItems, readObject } from './body.ts'
import type { Route } from './routes.ts'

/** The part of a request that an endpoint's input comes from. */
export interface RestRequest {
  body: Body
  /** The path's segments, percent-decoded. */
  segments: readonly string[]
  /** The query, without its `?`. */
  search: string
}

const PLAIN_INTEGER = /^(?:0|[1-9]\d*)$/

/**
 * The raw input of an endpoint's procedure. Each source gives only its own keys, so that none can be smuggled in through
 * another. Path, query and headers are checked before the body is read, as the documented order of refusals wants it; the
 * procedure's own schema then sees the whole input, raw. Throws an ApiError.
 */
export async function readInput(route: Route, { body, segments, search }: RestRequest, rawInput: RawInput) {
  const input: Record<string, unknown> = {}
  route.parameters.forEach((key, i) => {
    if (key) input[key] = segments[i]
  })
  for (const [key, header] of Object.entries(route.meta.headers ?? {})) {
    const value = body.headers[header.toLowerCase()]
    if (value !== undefined) input[key] = value
  }
  if (search && route.fromQuery.size > 0) {
    // With a question mark of our own: of a text that begins with one, the parser drops it.
    const query = new URLSearchParams(`?${search}`)
    for (const key of route.fromQuery) {
      const values = query.getAll(key)
      if (values.length === 1) input[key] = parsed(route, key, values[0]!)
      else if (values.length > 1) input[key] = values
    }
  }
  if (!route.head) return input

  const { raw, rawItems } = route.meta
  if (raw && isJson(body)) {
    // Read only after the procedure's schema has checked the rest: checking it here as well took 2 us of a PUT.
    input[raw] = rawField(body, raw, rawInput)
    return input
  }
  const { error } = route.head.safeParse(input)
  if (error) throw inputError(error, readDefinition(route.procedure).type)
  if (!isJson(body)) throw errors.typeWrong()
  if (rawItems) {
    input[rawItems.list] = await readItems(body, rawItems, rawInput)
    return input
  }
  const object = await readObject(body)
  for (const key of route.fromBody) if (Object.hasOwn(object, key)) input[key] = object[key]
  return input
}

/** Text of another form stays text, for the schema to refuse. */
function parsed({ integers, booleans }: Route, key: string, text: string) {
  if (integers.has(key)) return toInteger(text)
  if (booleans.has(key) && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/**
 * Reads plain decimal integers. What a number cannot hold exactly becomes the largest that it can: beyond every limit and
 * time, and as an offset beyond every list.
 */
const toInteger = (text: string) => (PLAIN_INTEGER.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : text)

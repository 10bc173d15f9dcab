import type { IncomingMessage } from 'node:http'
import { inputError } from '../routers/trpc.ts'
import { readField, readObject } from './body.ts'
import type { Route } from './routes.ts'

/** What a request brings to an endpoint. */
export interface Given {
  request: IncomingMessage
  /** The path's segments, percent-decoded. */
  segments: readonly string[]
  /** The query, without its `?`. */
  search: string
}

const PLAIN_INTEGER = /^(?:0|[1-9]\d{0,15})$/

/**
 * The input of an endpoint's procedure. Each source gives the keys that are its own, so none can be smuggled in by
 * another; path, query and headers are judged before the body is read, as the order of refusals has it.
 */
export async function readInput(route: Route, { request, segments, search }: Given, quotaBytes: number) {
  const input: Record<string, unknown> = {}
  route.parameters.forEach((key, i) => {
    if (key) input[key] = segments[i]
  })
  for (const [key, header] of Object.entries(route.meta.headers ?? {})) {
    const value = request.headers[header.toLowerCase()]
    if (value !== undefined) input[key] = value
  }
  if (search && route.fromQuery.size > 0) {
    const query = new URLSearchParams(search)
    for (const key of route.fromQuery) {
      const values = query.getAll(key)
      if (values.length === 1) input[key] = route.numbers.has(key) ? toNumber(values[0]!) : values[0]
      else if (values.length > 1) input[key] = values
    }
  }
  if (!route.head) return input

  const { error, data } = route.head.safeParse(input)
  if (error) throw inputError(error, route.procedure._def.type)
  const { raw } = route.meta
  if (raw) {
    data[raw] = await readField(request, raw, quotaBytes)
    return data
  }
  const body = await readObject(request)
  for (const key of route.fromBody) if (Object.hasOwn(body, key)) input[key] = body[key]
  return input
}

/** A text that is no plain decimal integer stays a text, for the schema to refuse. */
const toNumber = (text: string) => (PLAIN_INTEGER.test(text) ? Number(text) : text)

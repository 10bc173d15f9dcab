import { isUtf8 } from 'node:buffer'
import { parseSegments, routesAt } from '../../rest-facade/routes.ts'
import type { ApiError } from '../../routers/kernel/errors.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { Section } from '../../routers/kernel/scopes.ts'

export interface ParserError extends NodeJS.ErrnoException {
  rawPacket?: Buffer
  bytesParsed?: number
}

export interface Refusal {
  error: ApiError
  section: Section | null
  /** The path of an API on this machine, in place of `/v1`. */
  base?: string | undefined
}

const LINE_FEED = 0x0a
const FIRST_BEYOND_ASCII = 0x80
const BEYOND_ASCII = /[\u0080-\u{10ffff}]/u

/**
 * The refusal for a storage name with UTF-8 that is not percent-encoded; undefined for any other parser error. The rest of the
 * request is not examined.
 */
export function refusalOfRawName({ rawPacket, bytesParsed = 0 }: ParserError): Refusal | undefined {
  // The parser stops at the byte that it refuses. Its error code is HPE_INVALID_URL on Node only, not on Deno.
  if (!rawPacket || (rawPacket[bytesParsed] ?? 0) < FIRST_BEYOND_ASCII) return undefined
  const end = rawPacket.indexOf(LINE_FEED, bytesParsed)
  const line = rawPacket.subarray(rawPacket.lastIndexOf(LINE_FEED, bytesParsed) + 1, Math.max(end, bytesParsed))
  if (!isUtf8(line)) return undefined
  // With the paths that a trial has at localhost. A service without them has nothing there: any refusal is right.
  const request = /^([A-Z]+) (?:\/(apps|sync))?(\/v1\/[^ ?]*)(?:\?[^ ]*)? HTTP\/1\.[01]\r?$/
  const [, method, local, path] = request.exec(line.toString()) ?? []
  const segments = path === undefined ? undefined : parseSegments(path)
  const route = segments && routesAt(segments).find((one) => one.method === method)
  if (!segments || (route?.section !== 'apps' && route?.section !== 'sync')) return undefined
  const { section, parameters } = route
  if (local !== undefined && local !== section) return undefined
  const isRaw = segments.some((segment, i) => parameters[i] && BEYOND_ASCII.test(segment))
  const base = local && `/${local}/v1`
  return isRaw ? { error: errors.nameInvalid(), section, base } : undefined
}

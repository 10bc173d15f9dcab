import { z } from 'zod'
import { parseUrl } from '../../prisma/parse-url.ts'
import { errors, withError } from '../kernel/errors.ts'

/** Checked as written: URL parsing would repair a missing host and spaces, and accept empty user info. */
const writtenUrl = /^https:\/\/[^/\\?#@*]+(?:[/\\?#]|$)/
const isUrl = (url: string) => !/[\p{Cc}\p{Surrogate}\p{Z}]/u.test(url) && parseUrl(url) !== null

export const url = z
  .string(withError('urlInvalid'))
  // Parsing a host of distinct characters takes quadratic time: 180 kB of them 7 s.
  .max(2048, { ...withError('urlInvalid'), abort: true })
  .regex(writtenUrl, withError('urlInvalid'))
  .refine(isUrl, withError('urlInvalid'))
export const secret = z.string(withError('secretInvalid')).regex(/^[!-~]{1,1024}$/, withError('secretInvalid'))

const readOrigin = (url: string | null) => url && parseUrl(url)?.origin

/** Each delivery carries the secret: one that stays is for the origin that it was stored for. Throws 400 for another. */
export function requireSameOrigin(stored: string | null, next: string | null) {
  if (readOrigin(stored) !== readOrigin(next)) throw errors.secretNeeded()
}

export const EVENT_TYPE = /^[A-Za-z0-9._-]{1,128}$/

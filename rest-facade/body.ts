import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { ApiError } from '../routers/kernel/errors.ts'
import { errors, nameOperation } from '../routers/kernel/errors.ts'
import type { RawItems } from '../routers/kernel/meta.ts'
import {
  countRemaining,
  findInItems,
  findMembers,
  findStart,
  MAX_LOOKED_AT,
  replaceValues,
  scan,
} from '../routers/kernel/raw-json/cutter.ts'
import type { Placeholders } from '../routers/kernel/raw-json/placeholders.ts'
import { readCut } from '../routers/kernel/raw-json/placeholders.ts'
import type { Member } from '../routers/kernel/raw-json/scanner.ts'
import type { JsonText } from '../routers/kernel/raw-json/text.ts'

/** Bodies of lms, notify and tRPC (there without values of the storage); those of the storage have the quota for a limit. */
export const BODY_LIMIT_BYTES = 1024 * 1024

/** What surrounds a value in a storage body: the field's name and white space. */
export const AROUND_VALUE_BYTES = 64 * 1024

/** A body of lms and notify that is nested deeper says nothing that its schema knows. */
const BODY_NESTING = 64

/** A request's body. */
export interface Body {
  headers: IncomingHttpHeaders
  /** The whole body, which stays text or will be parsed. Throws `tooLarge()`, 400, 408, and 503 where there is no memory for it. */
  read: (limitBytes: number, tooLarge: () => ApiError, use: 'text' | 'parsed') => Promise<Buffer>
}

/** What a raw field of an input needs. */
export interface RawInput {
  quotaBytes: number
  placeholders: Placeholders
}

/** Whether it is `application/json`, in UTF-8 and not compressed; other parameters do not matter. */
export function isJson({ headers }: Body): boolean {
  // What nearly all send is not taken apart.
  if (headers['content-type'] === 'application/json' && headers['content-encoding'] === undefined) return true
  const [type, ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => /^charset\s*=/.test(parameter))
  const isUtf8Json = type === 'application/json' && (!charset || /^charset\s*=\s*("?)utf-?8\1$/.test(charset))
  // A list, whose empty elements do not count (RFC 9110, 5.6.1).
  const encodings = (headers['content-encoding'] ?? '').split(',').map((one) => one.trim().toLowerCase())
  return isUtf8Json && encodings.every((one) => one === '' || one === 'identity')
}

/** The parsed body of lms and notify: one JSON object of at most 1 MiB. */
export async function readObject(body: Body): Promise<Record<string, unknown>> {
  const bytes = await body.read(BODY_LIMIT_BYTES, errors.bodyTooLarge, 'parsed')
  if (!isUtf8(bytes)) throw errors.bodyNotJson()
  const scanner = await scan(bytes)
  if (!scanner.wellFormed) throw errors.bodyNotJson()
  if (!scanner.rootIsObject) throw errors.bodyNotObject()
  if (scanner.nesting > BODY_NESTING) throw errors.bodyTooDeep()
  return JSON.parse(bytes.toString('utf8', findStart(bytes)))
}

/** The placeholder of the one field that the body has; the body is not read yet. */
export function rawField(body: Body, field: string, { quotaBytes, placeholders }: RawInput): string {
  // Unknown of a chunked body.
  const length = Number(body.headers['content-length'] ?? 0)
  return placeholders.insertValue(Math.max(0, length - AROUND_VALUE_BYTES), () => readField(body, field, quotaBytes))
}

/** The text of the field. It is checked and cut out, never parsed: so it stays what it was. */
async function readField(body: Body, field: string, quotaBytes: number): Promise<JsonText> {
  const bytes = await body.read(quotaBytes + AROUND_VALUE_BYTES, errors.quotaExceeded, 'text')
  if (bytes.length === 0) throw errors.valueMissing()
  return readCut(bytes, await findOnly(bytes, field, { missing: errors.valueMissing, notAlone: errors.valueNotAlone }))
}

/** The one member of the body, which has this name. Throws 400. */
async function findOnly(
  bytes: Buffer,
  field: string,
  { missing, notAlone }: { missing: () => ApiError; notAlone: () => ApiError },
): Promise<Member> {
  if (!isUtf8(bytes)) throw errors.bodyNotJson()
  const { scanner, found, count } = await findMembers(bytes, [field])
  if (!scanner.wellFormed) throw errors.bodyNotJson()
  if (!found[0]) throw missing()
  if (count > 1) throw notAlone()
  return found[0]
}

/**
 * The body's one field, a list of objects, parsed but for one field of each. No name is twice in the body or in an object: others
 * on its way could read the other one.
 */
export async function readItems(
  body: Body,
  { list, field }: RawItems,
  { quotaBytes, placeholders }: RawInput,
): Promise<unknown> {
  const bytes = await body.read(quotaBytes + AROUND_VALUE_BYTES, errors.quotaExceeded, 'text')
  const fieldErrors = { missing: errors.operationsInvalid, notAlone: errors.operationsNotAlone }
  const items = await findOnly(bytes, list, fieldErrors)
  const repeating = new RepeatedNames()
  const { found: cuts, count } = await findInItems(bytes, items, field, repeating.add)
  if (repeating.item !== undefined) throw nameOperation(repeating.item, errors.operationInvalid())
  // Values that are not looked at do not count as values below.
  if (count > MAX_LOOKED_AT) throw errors.operationsInvalid()
  const { valueStart, valueEnd } = items
  if (countRemaining(valueEnd - valueStart, cuts) > AROUND_VALUE_BYTES) throw errors.operationsTooLarge()
  return JSON.parse(replaceValues(bytes, [valueStart, valueEnd], cuts, (cut) => placeholders.insertCut(bytes, cut)))
}

/** Finds the first item of a list with a name twice, or with too many names. */
class RepeatedNames {
  item: number | undefined
  readonly #names = new Set<string>()
  #at = -1

  readonly add = (item: number, name: string) => {
    if (this.item !== undefined) return
    if (item !== this.#at) this.#names.clear()
    this.#at = item
    if (this.#names.has(name) || this.#names.size === MAX_LOOKED_AT) this.item = item
    this.#names.add(name)
  }
}

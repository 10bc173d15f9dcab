import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { ApiError } from '../routers/kernel/errors.ts'
import { errors, ofOperation } from '../routers/kernel/errors.ts'
import type { RawItems } from '../routers/kernel/meta.ts'
import type { Member, MembersOf } from '../routers/kernel/raw-json/scanner.ts'
import { JsonScanner, SLICE_BYTES } from '../routers/kernel/raw-json/scanner.ts'
import type { JsonText } from '../routers/kernel/raw-json/text.ts'
import { LARGE_TEXT, MAX_NESTING, RawJson } from '../routers/kernel/raw-json/text.ts'

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

/** Whether it is `application/json`, in UTF-8 and not compressed; other parameters do not matter. */
export function isJson({ headers }: Body): boolean {
  // What nearly all send is not taken apart.
  if (headers['content-type'] === 'application/json' && headers['content-encoding'] === undefined) return true
  const [type, ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => /^charset\s*=/.test(parameter))
  const isUtf8Json = type === 'application/json' && (!charset || /^charset\s*=\s*("?)utf-?8\1$/.test(charset))
  const encodings = (headers['content-encoding'] ?? 'identity').split(',')
  return isUtf8Json && encodings.every((one) => one.trim().toLowerCase() === 'identity')
}

/** Where the JSON begins: behind a byte order mark, if there is one. */
export const startOf = (bytes: Buffer) => (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0)

/** Scans a whole body in slices that let others take their turn. */
export function scan(
  bytes: Buffer,
  onMember?: (member: Member) => void,
  membersOf?: MembersOf,
): JsonScanner | Promise<JsonScanner> {
  const scanner = new JsonScanner(bytes, startOf(bytes), onMember, membersOf)
  scanner.read(SLICE_BYTES)
  return scanner.pending ? scanOn(scanner) : scanner
}

async function scanOn(scanner: JsonScanner): Promise<JsonScanner> {
  while (scanner.pending) {
    await setImmediate()
    scanner.read(SLICE_BYTES)
  }
  return scanner
}

/** The parsed body of lms and notify: one JSON object of at most 1 MiB. */
export async function readObject(body: Body): Promise<Record<string, unknown>> {
  const bytes = await body.read(BODY_LIMIT_BYTES, errors.bodyTooLarge, 'parsed')
  if (!isUtf8(bytes)) throw errors.bodyNotJson()
  const scanner = await scan(bytes)
  if (!scanner.wellFormed) throw errors.bodyNotJson()
  if (!scanner.rootIsObject) throw errors.bodyNotObject()
  if (scanner.nesting > BODY_NESTING) throw errors.bodyTooDeep()
  return JSON.parse(bytes.toString('utf8', startOf(bytes)))
}

/** The one field that the body has; the body is not read yet. */
export function rawField(body: Body, field: string, quotaBytes: number): RawJson {
  // Unknown of a chunked body.
  const length = Number(body.headers['content-length'] ?? 0)
  return new RawJson(Math.max(0, length - AROUND_VALUE_BYTES), () => readField(body, field, quotaBytes))
}

/** The text of the field. It is checked and cut out, never parsed: so it stays what it was. */
async function readField(body: Body, field: string, quotaBytes: number): Promise<JsonText> {
  const bytes = await body.read(quotaBytes + AROUND_VALUE_BYTES, errors.quotaExceeded, 'text')
  if (bytes.length === 0) throw errors.valueMissing()
  if (!isUtf8(bytes)) throw errors.bodyNotJson()

  let members = 0
  let found: Member | undefined
  const scanner = await scan(bytes, (member) => {
    members++
    if (!found && keyOf(bytes, member) === field) found = { ...member }
  })
  if (!scanner.wellFormed) throw errors.bodyNotJson()
  if (!found) throw errors.valueMissing()
  if (members > 1) throw errors.valueNotAlone()
  if (found.nesting > MAX_NESTING) throw errors.valueTooDeep()
  return textOf(bytes, found.valueStart, found.valueEnd)
}

/**
 * The body's one field, a list of objects, parsed but for one field of each. No name is twice in the body or in an object: others
 * on its way could read the other one.
 */
export async function readItems(body: Body, { list, field }: RawItems, quotaBytes: number): Promise<unknown> {
  const bytes = await body.read(quotaBytes + AROUND_VALUE_BYTES, errors.quotaExceeded, 'text')
  if (!isUtf8(bytes)) throw errors.bodyNotJson()
  let members = 0
  let found: Member | undefined
  const scanner = await scan(bytes, (member) => {
    members++
    if (!found && keyOf(bytes, member) === list) found = { ...member }
  })
  if (!scanner.wellFormed) throw errors.bodyNotJson()
  if (!found) throw errors.operationsInvalid()
  if (members > 1) throw errors.operationsNotAlone()

  const items = bytes.subarray(found.valueStart, found.valueEnd)
  const cuts = await fieldsOf(items, field)
  const parsed: unknown = JSON.parse(withoutValues(items, cuts))
  for (const { item, nesting, valueStart, valueEnd } of cuts) {
    const read = async () => {
      if (nesting > MAX_NESTING) throw errors.valueTooDeep()
      return textOf(items, valueStart, valueEnd)
    }
    ;(parsed as Record<string, unknown>[])[item]![field] = new RawJson(valueEnd - valueStart, read)
  }
  return parsed
}

/**
 * Objects of a list, and members of one, that are looked at: more are in no list of operations, and a body may have a million. What
 * is not looked at is parsed, and refused.
 */
export const MAX_LOOKED_AT = 100

/** The field of each item that has it. Throws 400 for an item with a name twice, or with too many. */
async function fieldsOf(items: Buffer, field: string): Promise<Member[]> {
  const cuts: Member[] = []
  const names = new Set<string>()
  let [item, repeating] = [-1, -1]
  const onMember = (member: Member) => {
    if (repeating >= 0 || member.item >= MAX_LOOKED_AT) return
    if (member.item !== item) names.clear()
    item = member.item
    const name = keyOf(items, member)
    if (name === undefined) return
    if (names.has(name) || names.size === MAX_LOOKED_AT) repeating = item
    names.add(name)
    if (name === field) cuts.push({ ...member })
  }
  await scan(items, onMember, 'items')
  if (repeating >= 0) throw ofOperation(repeating, errors.operationInvalid())
  return cuts
}

/** The items as JSON with null for each value: little, which is parsed. Throws 413. */
function withoutValues(items: Buffer, cuts: readonly Member[]): string {
  const size = cuts.reduce((left, { valueStart, valueEnd }) => left - (valueEnd - valueStart), items.length)
  if (size > AROUND_VALUE_BYTES) throw errors.operationsTooLarge()
  let json = ''
  let at = 0
  for (const { valueStart, valueEnd } of cuts) {
    json += `${items.toString('utf8', at, valueStart)}null`
    at = valueEnd
  }
  return json + items.toString('utf8', at)
}

/** A part of the body; a large one is not copied. */
export const textOf = (bytes: Buffer, start: number, end: number): JsonText =>
  end - start <= LARGE_TEXT ? bytes.toString('utf8', start, end) : bytes.subarray(start, end)

/** The key of a member, its escapes resolved; longer ones than any escaped field name are not looked at. */
export function keyOf(bytes: Buffer, { keyStart, keyEnd }: Member): string | undefined {
  return keyEnd - keyStart <= 80 ? JSON.parse(bytes.toString('utf8', keyStart, keyEnd)) : undefined
}

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import {
  AROUND_VALUE_BYTES,
  BODY_LIMIT_BYTES,
  keyOf,
  MAX_LOOKED_AT,
  scan,
  startOf,
  textOf,
} from '../../rest-facade/body.ts'
import { procedures } from '../../routers/index.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { RawItems } from '../../routers/kernel/meta.ts'
import type { Member } from '../../routers/kernel/raw-json/scanner.ts'
import { MAX_NESTING } from '../../routers/kernel/raw-json/text.ts'
import { definitionOf } from '../../routers/kernel/trpc-internals.ts'
import { readBytes, SMALL_BODY_BYTES } from '../http/body-bytes.ts'
import type { Use } from '../http/memory-budget.ts'
import type { RawValues } from './raw-values.ts'

/** The nesting of values over REST, plus the input and the batch around it. */
const BODY_NESTING = MAX_NESTING + 2

/** Around the values of a list: it, and its objects. */
const LIST_NESTING = 2

/** Values of several calls in one body: with the rest, 1 MiB that is parsed, they use up one request's memory. */
const MAX_BATCH_BYTES = 16 * 1024 * 1024

const BYTE_ORDER_MARK = '\ufeff'

/** Where the values of an input are that stay text: a field, or one of each object of a list. */
type Raw = string | RawItems | undefined

export interface Inputs {
  rawFields: readonly Raw[]
  isBatch: boolean
  quotaBytes: number
  values: RawValues
  reserve: (bytes: number, use: Use) => Promise<void>
}

export function rawFieldsOf(path: string, isBatch: boolean): Inputs['rawFields'] {
  const names = isBatch ? path.split(',') : [path]
  return names.map((name) => {
    if (!Object.hasOwn(procedures, name)) return undefined
    const { raw, rawItems } = definitionOf(procedures[name]!).meta
    return raw ?? rawItems
  })
}

/**
 * A body's inputs as JSON text, in which placeholders stand for the raw values; '' for an empty body. Throws 400, 413 for its
 * size, 415, 503.
 */
export async function readInputs(request: IncomingMessage, inputs: Inputs): Promise<string> {
  const { rawFields, isBatch, values, reserve } = inputs
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) throw errors.typeWrong()
  const { maxBytes, tooLarge, use } = limitOf(inputs)
  const bytes = await readBytes(request, maxBytes, tooLarge, (length) => reserve(length, use))
  if (bytes.length === 0) return ''
  const fields = isBatch ? rawFields.map((_, i) => String(i)) : rawFields.map(fieldOf)
  const nesting = BODY_NESTING + (rawFields.some((raw) => typeof raw === 'object') ? LIST_NESTING : 0)
  const found = await checkedMembers(bytes, isBatch, fields, nesting)
  const members = isBatch ? await membersWithin(bytes, found, rawFields.map(fieldOf)) : found
  const cuts = (await cutsOf(bytes, members, rawFields)).sort((a, b) => a.valueStart - b.valueStart)
  const parsedBytes = cuts.reduce((left, { valueStart, valueEnd }) => left - (valueEnd - valueStart), bytes.length)
  if (parsedBytes > BODY_LIMIT_BYTES) throw errors.inputTooLarge()
  if (use === 'text' && parsedBytes > SMALL_BODY_BYTES) await reserve(parsedBytes, 'parsed')
  return withPlaceholders(bytes, cuts, values)
}

/** A query's inputs as JSON text. Throws 400. */
export async function readQuery(query: URLSearchParams, isBatch: boolean): Promise<string> {
  const input = query.get('input')
  // Allowed before a body, where it is dropped; JSON.parse of the input would fail on it.
  if (input?.startsWith(BYTE_ORDER_MARK)) throw errors.bodyNotJson()
  await checkedMembers(Buffer.from(input ?? '{}'), isBatch, [])
  return input ?? ''
}

/** The same as over REST for each call; a batch has an additional limit. */
function limitOf({ rawFields, quotaBytes }: Inputs) {
  const rawCount = rawFields.filter((field) => field !== undefined).length
  if (rawCount === 0) return { maxBytes: BODY_LIMIT_BYTES, tooLarge: errors.inputTooLarge, use: 'parsed' } as const
  const one = quotaBytes + AROUND_VALUE_BYTES
  if (rawFields.length === 1) return { maxBytes: one, tooLarge: errors.quotaExceeded, use: 'text' } as const
  const all = rawCount * one + (rawFields.length > rawCount ? BODY_LIMIT_BYTES : 0)
  return {
    maxBytes: Math.min(all, Math.max(one, MAX_BATCH_BYTES)),
    tooLarge: errors.batchTooLarge,
    use: 'text',
  } as const
}

/** Validates a whole JSON text and finds the last member of each name, as JSON.parse does. */
async function checkedMembers(
  bytes: Buffer,
  isBatch: boolean,
  names: readonly (string | undefined)[],
  maxNesting = BODY_NESTING,
) {
  const { scanner, found } = await membersOf(bytes, names)
  if (!scanner.wellFormed || !isUtf8(bytes)) throw errors.bodyNotJson()
  if (isBatch && !scanner.rootIsObject) throw errors.bodyNotObject()
  if (scanner.nesting > maxNesting) throw errors.valueTooDeep()
  return found
}

async function membersOf(bytes: Buffer, names: readonly (string | undefined)[]) {
  const found = names.map((): Member | undefined => undefined)
  const at = new Map(names.map((name, i) => [name, i]))
  const onMember = (member: Member) => {
    const i = at.get(keyOf(bytes, member) ?? '')
    if (i !== undefined) found[i] = { ...member }
  }
  const scanner = await scan(bytes, names.some((name) => name !== undefined) ? onMember : undefined)
  return { scanner, found }
}

const fieldOf = (raw: Raw) => (typeof raw === 'object' ? raw.list : raw)

/** Finds each input's raw field in a batch, by its position in the body. */
async function membersWithin(
  bytes: Buffer,
  inputs: readonly (Member | undefined)[],
  fields: readonly (string | undefined)[],
) {
  const members: (Member | undefined)[] = []
  for (const [i, field] of fields.entries()) {
    const input = inputs[i]
    if (!input || field === undefined) continue
    const { valueStart: start, valueEnd } = input
    const [member] = (await membersOf(bytes.subarray(start, valueEnd), [field])).found
    if (member) members[i] = movedBy(start, member)
  }
  return members
}

/** The values that stay text: those of the raw fields, or within the lists that these have. */
async function cutsOf(bytes: Buffer, members: readonly (Member | undefined)[], rawFields: Inputs['rawFields']) {
  const cuts: Member[] = []
  for (const [i, raw] of rawFields.entries()) {
    const member = members[i]
    if (member) cuts.push(...(typeof raw === 'object' ? await itemsWithin(bytes, member, raw.field) : [member]))
  }
  return cuts
}

/** The last member of this name in each of the first objects of a list. */
async function itemsWithin(bytes: Buffer, { valueStart, valueEnd }: Member, field: string) {
  const list = bytes.subarray(valueStart, valueEnd)
  const found = new Map<number, Member>()
  const onMember = (member: Member) => {
    if (member.item < MAX_LOOKED_AT && keyOf(list, member) === field)
      found.set(member.item, movedBy(valueStart, member))
  }
  await scan(list, onMember, 'items')
  return [...found.values()]
}

const movedBy = (bytes: number, { valueStart, valueEnd, ...member }: Member): Member => ({
  ...member,
  valueStart: valueStart + bytes,
  valueEnd: valueEnd + bytes,
})

function withPlaceholders(bytes: Buffer, cuts: readonly Member[], values: RawValues): string {
  let json = ''
  let at = startOf(bytes)
  for (const { valueStart, valueEnd, nesting } of cuts) {
    const placeholder = values.insert(textOf(bytes, valueStart, valueEnd), nesting)
    json += `${bytes.toString('utf8', at, valueStart)}"${placeholder}"`
    at = valueEnd
  }
  return json + bytes.toString('utf8', at)
}

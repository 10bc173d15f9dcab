import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { AROUND_VALUE_BYTES, BODY_LIMIT_BYTES } from '../../rest-facade/body.ts'
import { procedures } from '../../routers/index.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { RawItems } from '../../routers/kernel/meta.ts'
import {
  countRemaining,
  findInItems,
  findMembers,
  findStart,
  findWithin,
  replaceValues,
} from '../../routers/kernel/raw-json/cutter.ts'
import type { Placeholders } from '../../routers/kernel/raw-json/placeholders.ts'
import type { Member } from '../../routers/kernel/raw-json/scanner.ts'
import { MAX_NESTING } from '../../routers/kernel/raw-json/text.ts'
import { readDefinition } from '../../routers/kernel/trpc-internals.ts'
import { readBytes, SMALL_BODY_BYTES } from '../http/body-bytes.ts'
import type { Use } from '../http/memory-budget.ts'

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
  placeholders: Placeholders
  reserve: (bytes: number, use: Use) => Promise<void>
}

export function listRawFields(path: string, isBatch: boolean): Inputs['rawFields'] {
  const names = isBatch ? path.split(',') : [path]
  return names.map((name) => {
    if (!Object.hasOwn(procedures, name)) return undefined
    const { raw, rawItems } = readDefinition(procedures[name]!).meta
    return raw ?? rawItems
  })
}

/**
 * A body's inputs as JSON text, in which placeholders stand for the raw values; '' for an empty body. Throws 400, 413 for its
 * size, 415, 503.
 */
export async function readInputs(request: IncomingMessage, inputs: Inputs): Promise<string> {
  const { rawFields, isBatch, placeholders, reserve } = inputs
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) throw errors.typeWrong()
  const { maxBytes, tooLarge, use } = computeLimit(inputs)
  const bytes = await readBytes(request, maxBytes, tooLarge, (length) => reserve(length, use))
  if (bytes.length === 0) return ''
  const fields = isBatch ? rawFields.map((_, i) => String(i)) : rawFields.map(readField)
  const nesting = BODY_NESTING + (rawFields.some((raw) => typeof raw === 'object') ? LIST_NESTING : 0)
  const found = await checkedMembers(bytes, isBatch, fields, nesting)
  const members = isBatch ? await findFields(bytes, found, rawFields.map(readField)) : found
  const cuts = (await findCuts(bytes, members, rawFields)).sort((a, b) => a.valueStart - b.valueStart)
  const parsedBytes = countRemaining(bytes.length, cuts)
  if (parsedBytes > BODY_LIMIT_BYTES) throw errors.inputTooLarge()
  if (use === 'text' && parsedBytes > SMALL_BODY_BYTES) await reserve(parsedBytes, 'parsed')
  return replaceValues(bytes, [findStart(bytes), bytes.length], cuts, (cut) => placeholders.insertCut(bytes, cut))
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
function computeLimit({ rawFields, quotaBytes }: Inputs) {
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
  const { scanner, found } = await findMembers(bytes, names)
  if (!scanner.wellFormed || !isUtf8(bytes)) throw errors.bodyNotJson()
  if (isBatch && !scanner.rootIsObject) throw errors.bodyNotObject()
  if (scanner.nesting > maxNesting) throw errors.valueTooDeep()
  return found
}

const readField = (raw: Raw) => (typeof raw === 'object' ? raw.list : raw)

/** Finds each input's raw field in a batch, by its position in the body. */
async function findFields(
  bytes: Buffer,
  inputs: readonly (Member | undefined)[],
  fields: readonly (string | undefined)[],
) {
  const members: (Member | undefined)[] = []
  for (const [i, field] of fields.entries()) {
    const input = inputs[i]
    if (input && field !== undefined) members[i] = (await findWithin(bytes, input, [field]))[0]
  }
  return members
}

/** The values that stay text: those of the raw fields, or within the lists that these have. */
async function findCuts(bytes: Buffer, members: readonly (Member | undefined)[], rawFields: Inputs['rawFields']) {
  const cuts: Member[] = []
  for (const [i, raw] of rawFields.entries()) {
    const member = members[i]
    if (member) cuts.push(...(typeof raw === 'object' ? (await findInItems(bytes, member, raw.field)).found : [member]))
  }
  return cuts
}

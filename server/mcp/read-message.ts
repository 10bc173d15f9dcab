import { isUtf8 } from 'node:buffer'
import type { Body } from '../../rest-facade/body.ts'
import { AROUND_VALUE_BYTES, BODY_LIMIT_BYTES, isJson } from '../../rest-facade/body.ts'
import { tools } from '../../rest-facade/tools.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { RawItems } from '../../routers/kernel/meta.ts'
import {
  countRemaining,
  cutText,
  findInItems,
  findMembers,
  findStart,
  findWithin,
  replaceValues,
} from '../../routers/kernel/raw-json/cutter.ts'
import type { Placeholders } from '../../routers/kernel/raw-json/placeholders.ts'
import type { Member } from '../../routers/kernel/raw-json/scanner.ts'
import { MAX_NESTING } from '../../routers/kernel/raw-json/text.ts'
import { SMALL_BODY_BYTES } from '../http/body-bytes.ts'

/** A value over REST, with the message, its parameters and arguments, and the operations of a batch around it. */
const MESSAGE_NESTING = MAX_NESTING + 5

/**
 * The JSON-RPC message of a body, parsed but for what its tool stores as text, which `values` gets. Throws 400, 413, 415, and 503
 * where there is no memory for it.
 */
export async function readMessage(
  body: Body,
  reserveParsed: (bytes: number) => Promise<void>,
  { quotaBytes, values }: { quotaBytes: number; values: Placeholders },
): Promise<unknown> {
  if (!isJson(body)) throw errors.typeWrong()
  const bytes = await body.read(quotaBytes + AROUND_VALUE_BYTES, errors.quotaExceeded, 'text')
  if (!isUtf8(bytes)) throw errors.bodyNotJson()
  // To scan a small one takes 20 us, to parse it 2.
  if (bytes.length <= SMALL_BODY_BYTES) {
    const message = parse(bytes)
    if (findRaw(message?.params?.name) === undefined) return message
  }
  const { scanner, found } = await findMembers(bytes, ['params'])
  if (!scanner.wellFormed) throw errors.bodyNotJson()
  if (scanner.nesting > MESSAGE_NESTING) throw errors.bodyTooDeep()
  const cuts = await findRawValues(bytes, found[0])
  const parsedBytes = countRemaining(bytes.length, cuts)
  if (parsedBytes > BODY_LIMIT_BYTES) throw errors.bodyTooLarge()
  if (parsedBytes > SMALL_BODY_BYTES) await reserveParsed(parsedBytes)
  const start = findStart(bytes)
  return JSON.parse(replaceValues(bytes, [start, bytes.length], cuts, (cut) => values.insertCut(bytes, cut)))
}

function parse(bytes: Buffer) {
  try {
    return JSON.parse(bytes.toString('utf8', findStart(bytes)))
  } catch {
    throw errors.bodyNotJson()
  }
}

/** The argument of a tool that stays text, or the list of which a field does. */
function findRaw(tool: unknown): string | RawItems | undefined {
  const { raw, rawItems } = tools().get(tool as string)?.route.meta ?? {}
  return raw ?? rawItems
}

async function findRawValues(bytes: Buffer, params: Member | undefined): Promise<Member[]> {
  const [name, given] = params ? await findWithin(bytes, params, ['name', 'arguments']) : []
  // Longer ones name no tool.
  if (!name || !given || name.valueEnd - name.valueStart > 80) return []
  const raw = findRaw(JSON.parse(String(cutText(bytes, name))))
  if (raw === undefined) return []
  const [member] = await findWithin(bytes, given, [typeof raw === 'object' ? raw.list : raw])
  if (!member) return []
  return typeof raw === 'object' ? (await findInItems(bytes, member, raw.field)).found : [member]
}

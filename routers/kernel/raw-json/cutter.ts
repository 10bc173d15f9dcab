import { setImmediate } from 'node:timers/promises'
import type { Member, MemberLevel } from './scanner.ts'
import { JsonScanner, SLICE_BYTES } from './scanner.ts'
import type { JsonText } from './text.ts'
import { LARGE_TEXT } from './text.ts'

/**
 * Objects of a list, and members of one, that are looked at: more are in no list of operations, and a body may have a million. What
 * is not looked at is parsed, and refused.
 */
export const MAX_LOOKED_AT = 100

/** Where the JSON begins: behind a byte order mark, if there is one. */
export const findStart = (bytes: Buffer) => (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0)

/** Scans a whole body in slices that let others take their turn. */
export function scan(
  bytes: Buffer,
  onMember?: (member: Member) => void,
  memberLevel?: MemberLevel,
): JsonScanner | Promise<JsonScanner> {
  const scanner = new JsonScanner(bytes, findStart(bytes), onMember, memberLevel)
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

/** Scans an object, and finds the last member of each name, as JSON.parse does. `count`: all its members. */
export async function findMembers(bytes: Buffer, names: readonly (string | undefined)[]) {
  const found = names.map((): Member | undefined => undefined)
  const at = new Map(names.map((name, i) => [name, i]))
  let count = 0
  const onMember = (member: Member) => {
    count++
    const key = readKey(bytes, member)
    const i = key === undefined ? undefined : at.get(key)
    if (i !== undefined) found[i] = { ...member }
  }
  const scanner = await scan(bytes, names.some((name) => name !== undefined) ? onMember : undefined)
  return { scanner, found, count }
}

/** Finds the last member of each name in an object that is itself a member. */
export async function findWithin(bytes: Buffer, { valueStart, valueEnd }: Member, names: readonly string[]) {
  const { found } = await findMembers(bytes.subarray(valueStart, valueEnd), names)
  return found.map((member) => member && moveBy(valueStart, member))
}

/**
 * Finds the last member of a name in each of the first objects of a list. `onName`: called for every short name in these.
 * `count`: all items up to the last one that has a member.
 */
export async function findInItems(
  bytes: Buffer,
  { valueStart, valueEnd }: Member,
  field: string,
  onName?: (item: number, name: string) => void,
): Promise<{ found: Member[]; count: number }> {
  const list = bytes.subarray(valueStart, valueEnd)
  const found = new Map<number, Member>()
  let count = 0
  const onMember = (member: Member) => {
    count = member.item + 1
    if (member.item >= MAX_LOOKED_AT) return
    const name = readKey(list, member)
    if (name === undefined) return
    onName?.(member.item, name)
    if (name === field) found.set(member.item, moveBy(valueStart, member))
  }
  await scan(list, onMember, 'items')
  return { found: [...found.values()], count }
}

const moveBy = (bytes: number, { item, keyStart, keyEnd, valueStart, valueEnd, nesting }: Member): Member => ({
  item,
  keyStart: keyStart + bytes,
  keyEnd: keyEnd + bytes,
  valueStart: valueStart + bytes,
  valueEnd: valueEnd + bytes,
  nesting,
})

/** The bytes that remain of `length` without the values that are cut out. */
export const countRemaining = (length: number, cuts: readonly Member[]) =>
  cuts.reduce((left, { valueStart, valueEnd }) => left - (valueEnd - valueStart), length)

/** The JSON from one offset to another, with a string in place of each value. The cuts are in order. */
export function replaceValues(
  bytes: Buffer,
  [start, end]: readonly [start: number, end: number],
  cuts: readonly Member[],
  replace: (cut: Member) => string,
): string {
  let json = ''
  let at = start
  for (const cut of cuts) {
    json += `${bytes.toString('utf8', at, cut.valueStart)}"${replace(cut)}"`
    at = cut.valueEnd
  }
  return json + bytes.toString('utf8', at, end)
}

/** A value's text; a large one is not copied. */
export const cutText = (bytes: Buffer, { valueStart, valueEnd }: Member): JsonText =>
  valueEnd - valueStart <= LARGE_TEXT
    ? bytes.toString('utf8', valueStart, valueEnd)
    : bytes.subarray(valueStart, valueEnd)

/** The key of a member, its escapes resolved; longer ones than any escaped field name are not looked at. */
function readKey(bytes: Buffer, { keyStart, keyEnd }: Member): string | undefined {
  return keyEnd - keyStart <= 80 ? JSON.parse(bytes.toString('utf8', keyStart, keyEnd)) : undefined
}

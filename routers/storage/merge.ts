import { errors } from '../kernel/errors.ts'
import { skipSpace, skipValue, walkObject } from '../kernel/raw-json/walk.ts'

/** What a member becomes, by a patch or as JSON text; null removes it, undefined: it has been changed. */
type Change = Patch | string | null | undefined

/** A JSON Merge Patch (RFC 7396) of an object. `isWhole`: it removes nothing, so `text` is the result where no value exists yet. */
interface Patch {
  members: Map<string, Change>
  text: string
  isWhole: boolean
}

/**
 * The object's text after the merge patch, with every byte that the patch does not touch; without an object, the patch without what
 * it removes. Throws 400 where one of the two is no object, or has a name twice that the patch changes.
 */
export function merge(text: string | undefined, patchText: string): string {
  const patchStart = skipSpace(patchText, 0)
  if (patchText[patchStart] !== '{') throw errors.mergeNotObject()
  const patch = readPatch(patchText, patchStart)
  if (text === undefined) return toValue(patch)
  const start = skipSpace(text, 0)
  if (text[start] !== '{') throw errors.mergeNotObject()
  return applyTo(text, start, patch).merged
}

function readPatch(text: string, start: number): Patch {
  const members: Patch['members'] = new Map()
  let isWhole = true
  const end = walkObject(text, start, ({ key, valueStart }) => {
    if (members.has(key)) throw errors.nameTwice()
    if (text[valueStart] === '{') {
      const patch = readPatch(text, valueStart)
      isWhole &&= patch.isWhole
      members.set(key, patch)
      return valueStart + patch.text.length
    }
    const valueEnd = skipValue(text, valueStart)
    const value = text.slice(valueStart, valueEnd)
    isWhole &&= value !== 'null'
    members.set(key, value === 'null' ? null : value)
    return valueEnd
  })
  return { members, text: text.slice(start, end), isWhole }
}

const toValue = (value: Patch | string): string => {
  if (typeof value === 'string') return value
  return value.isWhole ? value.text : `{${addedMembers(value, '')}}`
}

/** The members of a patch whose names the object does not have yet. */
function addedMembers({ members }: Patch, first: '' | ','): string {
  let added = ''
  for (const [key, change] of members) {
    if (change) added += `${added ? ',' : first}${JSON.stringify(key)}:${toValue(change)}`
  }
  return added
}

/** Copies what stays from change to change. */
function applyTo(text: string, start: number, patch: Patch): { merged: string; end: number } {
  let merged = ''
  let isEmpty = true
  let copied = start
  let formerEnd = start + 1
  const end = walkObject(text, start, ({ key, keyStart, valueStart }) => {
    const isFirst = formerEnd === start + 1
    const change = patch.members.get(key)
    if (change === undefined && patch.members.has(key)) throw errors.nameTwice()
    if (change !== undefined) patch.members.set(key, undefined)
    if (change === null) {
      // The comma in front goes as well; of a first member, the one behind it.
      merged += text.slice(copied, isFirst ? keyStart : formerEnd)
      formerEnd = copied = skipValue(text, valueStart)
      return formerEnd
    }
    if (isEmpty && !isFirst) copied = keyStart
    isEmpty = false
    if (change === undefined) {
      formerEnd = skipValue(text, valueStart)
      return formerEnd
    }
    merged += text.slice(copied, valueStart)
    if (typeof change !== 'string' && text[valueStart] === '{') {
      const inner = applyTo(text, valueStart, change)
      merged += inner.merged
      formerEnd = inner.end
    } else {
      merged += toValue(change)
      formerEnd = skipValue(text, valueStart)
    }
    copied = formerEnd
    return formerEnd
  })
  merged += text.slice(copied, formerEnd) + addedMembers(patch, isEmpty ? '' : ',') + text.slice(formerEnd, end)
  return { merged, end }
}

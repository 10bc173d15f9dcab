import { errors } from '../kernel/errors.ts'
import { skipSpace, skipValue, walkObject } from '../kernel/raw-json/walk.ts'

/** A JSON Merge Patch (RFC 7396) of an object: by key what the member becomes, as JSON text; null removes it. */
interface Patch {
  members: Map<string, Patch | string | null>
  /** Its text as a new value: without what it removes. */
  asValue: string
}

/**
 * The object's text after the merge patch, with every byte that the patch does not touch. Throws 400 where one of the two is no
 * object, or has a name twice that the patch changes.
 */
export function merge(text: string, patch: string): string {
  const [start, patchStart] = [skipSpace(text, 0), skipSpace(patch, 0)]
  if (text[start] !== '{' || patch[patchStart] !== '{') throw errors.mergeNotObject()
  return applyTo(text, start, readPatch(patch, patchStart).patch).merged
}

function readPatch(text: string, start: number): { patch: Patch; end: number } {
  const members: Patch['members'] = new Map()
  let isWhole = true
  const end = walkObject(text, start, ({ key, valueStart }) => {
    if (members.has(key)) throw errors.nameTwice()
    if (text[valueStart] === '{') {
      const { patch, end } = readPatch(text, valueStart)
      isWhole &&= patch.asValue === text.slice(valueStart, end)
      members.set(key, patch)
      return end
    }
    const valueEnd = skipValue(text, valueStart)
    const value = text.slice(valueStart, valueEnd)
    isWhole &&= value !== 'null'
    members.set(key, value === 'null' ? null : value)
    return valueEnd
  })
  const asValue = isWhole ? text.slice(start, end) : `{${addedMembers(members).join(',')}}`
  return { patch: { members, asValue }, end }
}

/** The members of a patch whose names the object does not have yet. */
const addedMembers = (members: Iterable<[string, Patch | string | null]>) =>
  [...members].flatMap(([key, change]) => (change === null ? [] : [`${JSON.stringify(key)}:${asText(change)}`]))

const asText = (change: Patch | string) => (typeof change === 'string' ? change : change.asValue)

function applyTo(text: string, start: number, { members }: Patch): { merged: string; end: number } {
  const missing = new Map(members)
  let merged = ''
  let formerEnd = start + 1
  // The brace with the space behind it; in front of a later member, the comma.
  let opening = '{'
  const end = walkObject(text, start, ({ key, keyStart, valueStart }) => {
    const before = text.slice(formerEnd, keyStart)
    if (formerEnd === start + 1) opening += before
    const change = members.get(key)
    if (change !== undefined && !missing.delete(key)) throw errors.nameTwice()
    const separator = merged ? before : opening
    if (change instanceof Object && text[valueStart] === '{') {
      const { merged: value, end } = applyTo(text, valueStart, change)
      merged += separator + text.slice(keyStart, valueStart) + value
      formerEnd = end
    } else {
      formerEnd = skipValue(text, valueStart)
      if (change === undefined) merged += separator + text.slice(keyStart, formerEnd)
      else if (change !== null) merged += separator + text.slice(keyStart, valueStart) + asText(change)
    }
    return formerEnd
  })
  const added = addedMembers(missing).join(',')
  if (added) merged += (merged ? ',' : opening) + added
  return { merged: (merged || opening) + text.slice(formerEnd, end), end }
}

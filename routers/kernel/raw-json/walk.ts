const QUOTE = 0x22
const BACKSLASH = 0x5c

/** These read JSON that is known to be well formed, each byte once, and take and return offsets. */

export function skipSpace(text: string, at: number): number {
  let next = at
  for (let c = text.charCodeAt(next); c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09; c = text.charCodeAt(next)) {
    next++
  }
  return next
}

function skipString(text: string, start: number): number {
  let at = start + 1
  for (let c = text.charCodeAt(at); c !== QUOTE; c = text.charCodeAt(at)) at += c === BACKSLASH ? 2 : 1
  return at + 1
}

/** Where the value that begins at `start` ends. */
export function skipValue(text: string, start: number): number {
  if (text.charCodeAt(start) === QUOTE) return skipString(text, start)
  if (text[start] !== '{' && text[start] !== '[') {
    let at = start
    while (at < text.length && !',]} \n\r\t'.includes(text[at]!)) at++
    return at
  }
  let open = 0
  for (let at = start; ; ) {
    const c = text[at]!
    if (c === '"') at = skipString(text, at)
    else {
      at++
      if (c === '{' || c === '[') open++
      else if ((c === '}' || c === ']') && --open === 0) return at
    }
  }
}

/** A member of an object; its key is unescaped. */
export interface WalkedMember {
  key: string
  keyStart: number
  valueStart: number
}

/** Calls `onMember` for each member of the object at `start`; it returns where the value ends. Returns where the object ends. */
export function walkObject(text: string, start: number, onMember: (member: WalkedMember) => number): number {
  let at = skipSpace(text, start + 1)
  while (text[at] !== '}') {
    const keyStart = at
    const keyEnd = skipString(text, keyStart)
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1)
    // JSON.parse takes 10 ms for 64,000 keys.
    const name = text.slice(keyStart, keyEnd)
    const key = name.includes('\\') ? (JSON.parse(name) as string) : name.slice(1, -1)
    at = skipSpace(text, onMember({ key, keyStart, valueStart }))
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return at + 1
}

/** The same for the items of an array. */
export function walkArray(text: string, start: number, onItem: (index: number, valueStart: number) => number): number {
  let at = skipSpace(text, start + 1)
  for (let index = 0; text[at] !== ']'; index++) {
    at = skipSpace(text, onItem(index, at))
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return at + 1
}

/** Byte offsets of a member, and the nesting of its value. `item`: the index of its object in the outermost array, else 0. */
export interface Member {
  item: number
  keyStart: number
  keyEnd: number
  valueStart: number
  valueEnd: number
  nesting: number
}

/** How much is read before other requests get their turn: 0.3 ms at most. */
export const SLICE_BYTES = 64 * 1024

type State = (typeof S)[keyof typeof S]

/** The next token that is allowed; within a number, the part read last. */
const S = {
  value: 0,
  valueOrEnd: 1,
  key: 2,
  keyOrEnd: 3,
  colon: 4,
  commaOrEnd: 5,
  string: 6,
  escape: 7,
  hex: 8,
  literal: 9,
  minus: 10,
  zero: 11,
  integer: 12,
  point: 13,
  fraction: 14,
  exponent: 15,
  exponentSign: 16,
  exponentDigits: 17,
  end: 18,
  wrong: 19,
} as const

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d

const isSpace = (c: number) => c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09
const isDigit = (c: number) => c >= 0x30 && c <= 0x39
const isHex = (c: number) => isDigit(c) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66)
const NO_BYTES = Buffer.alloc(0)
const literals = new Map([...['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)] as const)])

/** The members that are reported: of the outermost object, or of each object in the outermost array. */
export type MemberLevel = 'object' | 'items'

/**
 * Scans JSON (RFC 8259) byte by byte without building it: whether it is well formed, its nesting, and the members of the
 * outermost object or objects. Linear, never recursive, and able to pause at any byte, so that a large body does not block
 * the event loop. The caller checks UTF-8.
 */
export class JsonScanner {
  readonly #bytes: Uint8Array
  readonly #onMember: (member: Member) => void
  #at: number
  #state: State = S.value
  /** For each open array or object: 1 for an object. Grows with the nesting. */
  #objects = new Uint8Array(64)
  #nesting = 0
  #deepest = 0
  /** The string being read is a key. */
  #inKey = false
  #hexDigits = 0
  #literal: Uint8Array = NO_BYTES
  #literalAt = 0
  #member: Member = { item: 0, keyStart: 0, keyEnd: 0, valueStart: 0, valueEnd: 0, nesting: 0 }
  #rootIsObject = false
  readonly #memberLevel: MemberLevel
  /** The nesting of the objects whose members are reported; 0 if there are none. */
  #level = 0

  constructor(
    bytes: Uint8Array,
    from = 0,
    onMember: (member: Member) => void = () => {},
    memberLevel: MemberLevel = 'object',
  ) {
    this.#bytes = bytes
    this.#at = from
    this.#onMember = onMember
    this.#memberLevel = memberLevel
  }

  get pending() {
    return this.#at < this.#bytes.length && this.#state !== S.wrong
  }

  /** Whether the bytes read so far are one complete JSON text. */
  get wellFormed() {
    const state = this.#state
    const isNumber = state === S.zero || state === S.integer || state === S.fraction || state === S.exponentDigits
    return state === S.end || (isNumber && this.#nesting === 0)
  }

  get rootIsObject() {
    return this.#rootIsObject
  }

  /** The largest number of arrays and objects inside one another. */
  get nesting() {
    return this.#deepest
  }

  /** Reads up to `count` more bytes. */
  read(count: number) {
    const bytes = this.#bytes
    const to = Math.min(bytes.length, this.#at + count)
    let at = this.#at
    while (at < to) {
      const c = bytes[at]!
      switch (this.#state) {
        case S.string:
          if (c === QUOTE) this.#endString(at)
          else if (c === BACKSLASH) this.#state = S.escape
          else if (c < 0x20) this.#state = S.wrong
          break
        case S.escape:
          this.#state = c === 0x75 ? S.hex : '"\\/bfnrt'.includes(String.fromCharCode(c)) ? S.string : S.wrong
          this.#hexDigits = 0
          break
        case S.hex:
          if (!isHex(c)) this.#state = S.wrong
          else if (++this.#hexDigits === 4) this.#state = S.string
          break
        case S.literal:
          if (c !== this.#literal[this.#literalAt]) this.#state = S.wrong
          else if (++this.#literalAt === this.#literal.length) this.#endValue(at + 1)
          break
        case S.value:
          if (!isSpace(c)) this.#startValue(c, at)
          break
        case S.valueOrEnd:
          if (c === CLOSE_ARRAY) this.#close(at)
          else if (!isSpace(c)) this.#startValue(c, at)
          break
        case S.keyOrEnd:
          if (c === CLOSE_OBJECT) this.#close(at)
          else if (!isSpace(c)) this.#startKey(c, at)
          break
        case S.key:
          if (!isSpace(c)) this.#startKey(c, at)
          break
        case S.colon:
          if (c === 0x3a) this.#state = S.value
          else if (!isSpace(c)) this.#state = S.wrong
          break
        case S.commaOrEnd:
          this.#afterValue(c, at)
          break
        case S.end:
          if (!isSpace(c)) this.#state = S.wrong
          break
        case S.wrong:
          this.#at = to
          return
        default:
          this.#readNumber(c, at)
      }
      at++
      // Most bytes of a large body are inside strings: skip to the next one that matters.
      if (this.#state === S.string) {
        while (at < to) {
          const next = bytes[at]!
          if (next === QUOTE || next === BACKSLASH || next < 0x20) break
          at++
        }
      }
    }
    this.#at = at
  }

  #startValue(c: number, at: number) {
    if (this.#isInMember) {
      this.#member.valueStart = at
      this.#member.nesting = 0
    }
    if (c === QUOTE) {
      this.#inKey = false
      this.#state = S.string
    } else if (c === OPEN_OBJECT || c === OPEN_ARRAY) this.#open(c === OPEN_OBJECT)
    else if (c === 0x2d) this.#state = S.minus
    else if (c === 0x30) this.#state = S.zero
    else if (isDigit(c)) this.#state = S.integer
    else {
      const literal = literals.get(c)
      if (literal) this.#literal = literal
      this.#literalAt = 1
      this.#state = literal ? S.literal : S.wrong
    }
  }

  #open(isObject: boolean) {
    if (this.#nesting === 0) this.#openRoot(isObject)
    if (this.#nesting === this.#objects.length) {
      const grown = new Uint8Array(this.#objects.length * 2)
      grown.set(this.#objects)
      this.#objects = grown
    }
    this.#objects[this.#nesting++] = isObject ? 1 : 0
    if (this.#nesting > this.#deepest) this.#deepest = this.#nesting
    if (this.#nesting - this.#level > this.#member.nesting) this.#member.nesting = this.#nesting - this.#level
    this.#state = isObject ? S.keyOrEnd : S.valueOrEnd
  }

  #openRoot(isObject: boolean) {
    this.#rootIsObject = isObject
    if (isObject === (this.#memberLevel === 'object')) this.#level = isObject ? 1 : 2
  }

  get #isInMember() {
    return this.#nesting === this.#level && this.#objects[this.#level - 1] === 1
  }

  #close(at: number) {
    this.#nesting--
    this.#endValue(at + 1)
  }

  #startKey(c: number, at: number) {
    if (this.#nesting === this.#level) this.#member.keyStart = at
    this.#inKey = true
    this.#state = c === QUOTE ? S.string : S.wrong
  }

  #endString(at: number) {
    if (!this.#inKey) return this.#endValue(at + 1)
    if (this.#nesting === this.#level) this.#member.keyEnd = at + 1
    this.#state = S.colon
  }

  #endValue(end: number) {
    this.#state = this.#nesting === 0 ? S.end : S.commaOrEnd
    if (!this.#isInMember) return
    this.#member.valueEnd = end
    this.#onMember(this.#member)
  }

  #afterValue(c: number, at: number) {
    const inObject = this.#objects[this.#nesting - 1] === 1
    if (c === 0x2c) {
      this.#state = inObject ? S.key : S.value
      if (this.#nesting < this.#level && !inObject) this.#member.item++
    } else if (c === (inObject ? CLOSE_OBJECT : CLOSE_ARRAY)) this.#close(at)
    else if (!isSpace(c)) this.#state = S.wrong
  }

  #readNumber(c: number, at: number) {
    const state = this.#state
    if (isDigit(c)) {
      if (state === S.minus) this.#state = c === 0x30 ? S.zero : S.integer
      else if (state === S.point) this.#state = S.fraction
      else if (state === S.exponent || state === S.exponentSign) this.#state = S.exponentDigits
      else if (state === S.zero) this.#state = S.wrong
      return
    }
    if (c === 0x2e && (state === S.zero || state === S.integer)) this.#state = S.point
    else if ((c | 0x20) === 0x65 && (state === S.zero || state === S.integer || state === S.fraction))
      this.#state = S.exponent
    else if ((c === 0x2b || c === 0x2d) && state === S.exponent) this.#state = S.exponentSign
    else if (state === S.minus || state === S.point || state === S.exponent || state === S.exponentSign) {
      this.#state = S.wrong
    } else {
      this.#endValue(at)
      if (this.#nesting > 0) this.#afterValue(c, at)
      else if (!isSpace(c)) this.#state = S.wrong
    }
  }
}

import fc from 'fast-check'

/** Any code point but a surrogate, for `fc.string({ unit })`: fast-check's own `binary` takes a second to prepare in each worker. */
export const codePoint = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800))

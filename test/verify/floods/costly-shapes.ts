interface Shape {
  head?: string
  unit: string
  tail?: string
}

/** What parsers of headers, parameters and bodies tend to be slow for, by name. */
const units: Readonly<Record<string, Shape>> = {
  'quoted commas': { head: 'a/b;x="', unit: '"",,', tail: '"' },
  'open quotes': { unit: '"' },
  'escaped quotes': { head: '"', unit: '\\"' },
  'quoted members': { unit: 'a="b", ' },
  parentheses: { unit: '(' },
  'pairs of parentheses': { unit: '()' },
  commas: { unit: ',' },
  'commas and spaces': { unit: ', ' },
  semicolons: { unit: ';' },
  'empty parameters': { unit: ';=' },
  'parameters with weights': { unit: 'a;q=0.1,' },
  'languages with subtags': { unit: 'a-b-c,' },
  spaces: { head: 'a', unit: ' ', tail: 'b' },
  tabs: { head: 'a', unit: '\t', tail: 'b' },
  'words of one letter': { unit: 'a ' },
  'equals signs': { unit: '=' },
  pairs: { unit: 'a=b; ' },
  'fields of a form': { unit: 'a=b&' },
  'fields of one letter': { unit: 'a&' },
  'nested fields': { unit: 'a[b]' },
  'percent signs': { unit: '%' },
  'encoded letters': { unit: '%41' },
  'encoded bytes that are no UTF-8': { unit: '%ff' },
  slashes: { unit: '/' },
  'parents of folders': { unit: '../' },
  dots: { unit: '.' },
  'parts of a token': { unit: 'eyJhIjoxfQ.' },
  hyphens: { unit: '-' },
  colons: { unit: ':' },
  'colons and slashes': { unit: '://' },
  'IPv6 groups': { unit: '1:' },
  addresses: { unit: '1.2.3.4, ' },
  digits: { unit: '9' },
  zeros: { head: '0.', unit: '0', tail: '1' },
  exponents: { unit: '1e9' },
  'letters and an end': { unit: 'a', tail: '!' },
  underscores: { unit: '_' },
  'ETags, weak and strong': { unit: 'W/"a", "b", ' },
  'weak marks': { unit: 'W/' },
  brackets: { unit: '[' },
  braces: { unit: '{"a":' },
  'at signs': { unit: 'a@' },
  'angle brackets and at signs': { unit: '<a@' },
  'labels of a host': { unit: 'a.' },
  'labels in punycode': { unit: 'xn--a-.' },
  'a user with at signs': { head: 'https://', unit: '@', tail: 'a.test/' },
  'a host of labels': { head: 'https://', unit: 'a.', tail: 'test/' },
  'a host of labels in punycode': { head: 'https://', unit: 'xn--a-.', tail: 'test/' },
  'a host of marks': { head: 'https://a', unit: '\u0301', tail: '.test/' },
  'a path of parents': { head: 'https://a.test/', unit: 'a/../' },
  'a query of pairs': { head: 'https://a.test/?', unit: 'a=b&' },
  'addresses in lines': { unit: 'https://a.test/\r\n' },
  lines: { unit: 'a\n' },
  'ends of lines': { unit: '\r\n' },
  'carriage returns': { unit: '\r' },
  'marks after a letter': { head: 'a', unit: '\u0301' },
  'letters with 30 marks': { unit: `a${'\u0301'.repeat(30)}` },
  joiners: { unit: 'a\u200d' },
  'spaces without width': { unit: '\u200b' },
  'joined emoji': { unit: '\u{1f468}\u200d\u{1f469}\u200d' },
  'ligatures that expand': { unit: '\ufdfa' },
  'capitals that expand': { unit: '\u0130' },
  'halves of characters': { unit: '\ud800' },
  'turned text': { unit: '\u202e\u2066' },
  'ideographic spaces': { head: 'a', unit: '\u3000', tail: 'b' },
  'separators of lines': { unit: '\u2028' },
  'no characters': { unit: '\0' },
  backslashes: { unit: '\\' },
  dollars: { unit: '$&' },
  'tags of a page': { unit: '<a>' },
  'entities of a page': { unit: '&amp;' },
}

const makeList = (item: string): Shape => ({ head: `[${item}`, unit: `,${item}`, tail: ']' })
const makeObject = (field: string): Shape => ({ head: `{${field}`, unit: `,${field}`, tail: '}' })

/** The same as JSON, for parsers and schemas that list each fault. */
const jsonUnits: Readonly<Record<string, Shape>> = {
  'nested lists': { unit: '[' },
  'nested objects': { unit: '{"a":' },
  'a list of numbers': makeList('0'),
  'a list of texts': makeList('""'),
  'a list of nothing': makeList('null'),
  'a list of lists': makeList('[]'),
  'a list of objects': makeList('{}'),
  'an object of one name': makeObject('"a":1'),
  'an object of prototypes': makeObject('"__proto__":{}'),
  'escapes in a text': { head: '"', unit: '\\u0000', tail: '"' },
  'halves of characters in a text': { head: '"', unit: '\\ud800', tail: '"' },
  digits: { unit: '9' },
  'an exponent': { head: '1e', unit: '9' },
  'a small exponent': { head: '1e-', unit: '9' },
  'zeros of a fraction': { head: '0.', unit: '0', tail: '1' },
  'white space': { head: '[', unit: ' \n', tail: ']' },
}

const filled = ({ head = '', unit, tail = '' }: Shape, length: number) =>
  `${head}${unit.repeat(Math.max(1, Math.floor((length - head.length - tail.length) / unit.length)))}${tail}`

const closed = (open: string, close: string, length: number) => {
  const depth = Math.floor((length - 1) / (open.length + close.length))
  return `${open.repeat(depth)}1${close.repeat(depth)}`
}

/** No two characters alike: for punycode, tables and sets. */
const distinct = (length: number) =>
  String.fromCodePoint(...Array.from({ length: Math.floor(length / 3) }, (_, at) => 0x4e00 + at))

const members = (length: number, name: (at: number) => string) =>
  `{${Array.from({ length: Math.floor(length / 12) }, (_, at) => `"${name(at)}":0`).join()}}`

type Shapes = Readonly<Record<string, (length: number) => string>>
const made = (all: Readonly<Record<string, Shape>>) =>
  Object.fromEntries(Object.entries(all).map(([name, shape]) => [name, (length: number) => filled(shape, length)]))

/** By name, each a text of at most that many characters. */
export const shapes: Shapes = {
  ...made(units),
  'distinct characters': distinct,
  'a host of distinct characters': (length) => `https://${distinct(length - 20)}.test/`,
}

export const jsonShapes: Shapes = {
  ...made(jsonUnits),
  'lists in lists': (length) => closed('[', ']', length),
  'objects in objects': (length) => closed('{"a":', '}', length),
  'an object of many names': (length) => members(length, (at) => `n${at}`),
  'an object of numbers': (length) => members(length, (at) => String(99_999 - at)),
}

/** A field again and again, behind others. */
export const repeated = (name: string): Shapes => ({
  'the same field': (length) => `${name}=a&`.repeat(Math.floor(length / (name.length + 3))),
})

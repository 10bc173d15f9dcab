/** JSON texts that a store which parses, sorts, rounds or normalises would change. */

/** One text a line; texts with line breaks and long ones are built below. */
const lines = (text: string) => text.split('\n').flatMap((line) => line.trim() || [])

const scalars = lines(`
  null
  true
  false
  ""
  "text"
`)

const numbers = lines(`
  0
  -0
  1.0
  1.50
  1E+2
  1.5e-0012
  1e400
  5e-324
  0.1000000000000000055511151231257827
  12345678901234567890
`)

const strings = lines(String.raw`
  "\u0000"
  "\ud800"
  "\udc00\ud800"
  "\ud83d\ude00"
  "ü€😀"
  "\u0041"
  "\/"
  "\"\\\/\b\f\n\r\t"
  "\u2028\u2029"
  "$& $1 $$"
  "placeholder:00000000-0000-4000-8000-000000000000:0"
`)

const objects = lines(String.raw`
  {}
  {"b":1,"10":2,"a":3,"9":4,"-1":5}
  {"a":1,"a":2}
  {"a":1,"\u0061":2}
  {"__proto__":{"a":1},"constructor":2}
  {"__proto__":1,"a":2,"__proto__":[3]}
  {"\u005f_proto__":{"toString":1}}
  {"toJSON":1,"then":2,"length":3}
  {"key":"x","value":1,"updatedAt":2}
  {"value":{"value":{"value":null}}}
  {"result":{"data":{"json":1,"meta":{"values":["undefined"]}}}}
  {"\u0000":0,"\ud800":1,"\udfff":2}
`)

const arrays = lines(`
  []
  [-0,0,-0.0]
  [1e400,-1e400,1e-400]
  [[],{},"",0,false,null]
  [12345678901234567890,{"a":1.0,"a":-0}]
`)

const withWhiteSpace = {
  'white space everywhere': '[ 1 , { "a" : [ ] , "b" : 0 } ]'.replaceAll(' ', ' \t\n\r'),
  'line breaks of every kind': '{\n  "a": [1,\r\n 2],\r"b": "\\n"\n}',
  'an array over two lines': '[ 1 ,\n2 ]',
}

const unescaped = {
  'a raw line separator': '"\u2028\u2029\u0085"',
  'a raw DEL and C1 controls': '"\u007f\u0080\u009f"',
  'a composed and a decomposed letter': '{"\u00e9":1,"e\u0301":2}',
  'right-to-left, joined and zero-width characters': '"\u202eabc\u202c\u200d\u200b\u00ad👩\u200d👩\u200d👧"',
}

const nested = {
  '256 arrays': '['.repeat(256) + ']'.repeat(256),
  '256 objects': `${'{"a":'.repeat(255)}{}${'}'.repeat(255)}`,
  '256 arrays and objects in turn': `${'[{"a":'.repeat(128)}1${'}]'.repeat(128)}`,
  '20 siblings of 256 levels': `[${Array(20).fill('['.repeat(255) + ']'.repeat(255))}]`,
}

/** A JSON string of the characters from `from` to `to`, without surrogates and those that JSON must escape. */
function makeString(from: number, to: number, step = 1) {
  let characters = ''
  for (let c = from; c <= to; c += step) {
    if (c >= 0x20 && c !== 0x22 && c !== 0x5c && !(c >= 0xd800 && c <= 0xdfff)) characters += String.fromCodePoint(c)
  }
  return `"${characters}"`
}

const planes = Object.fromEntries(
  Array.from({ length: 17 }, (_, plane) => {
    const first = plane * 0x10000
    // 257 divides 0xffff, so the first and last character (U+xxFFFF) are included.
    return [`Unicode plane ${plane}`, makeString(first, first + 0xffff, 257)]
  }),
)

/** Larger than the 64 KiB that the service reads at a time, so that each is split; from 256 KiB on a value stays UTF-8. */
const large = {
  'every character of plane 0': makeString(0, 0xffff),
  'a number of 1000 digits': `-${'1234567890'.repeat(100)}.${'0'.repeat(1000)}e-1`,
  'an array of 30,000 numbers': `[${Array.from({ length: 30_000 }, (_, i) => `${i % 2 ? '-' : ''}${i}.${i}0e-${i % 9}`)}]`,
  'an object of 10,000 keys, each twice': `{${Array.from({ length: 20_000 }, (_, i) => `"${(i * 7919) % 10_000}":${i}`)}}`,
  'an array of 10,000 strings, a line each, with characters of every length': `[\r\n${Array(10_000).fill('"aé€😀\\n 0123456789"').join(',\r\n')}\n]`,
  'a string of 50,000 escapes': `"${'\\u00e9\\n\\ud800'.repeat(16_667)}"`,
  // Ten bytes with characters of every length: chunks end inside characters.
  'a string of 9 MB': `"${'aé€😀'.repeat(900_000)}"`,
}

const written = [...scalars, ...numbers, ...strings, ...objects, ...arrays].map((text) => [text, text] as const)
const built = Object.entries({ ...withWhiteSpace, ...unescaped, ...nested, ...planes, ...large })

/** Each with its name, for short texts the text itself. Together they fit into the quota. */
export const values: readonly (readonly [name: string, text: string])[] = [...written, ...built]

const textByName = new Map(values)

/** The values with these names. */
export const named = (...names: string[]) => names.map((name) => [name, textByName.get(name)!] as const)

/**
 * For each way but one, REST with all of them in fidelity.test.ts: what every way could change. ASCII; escapes, also of
 * half a character; and one that is stored and sent in pieces, with line breaks and characters of every length.
 */
export const few = named(
  '"text"',
  String.raw`{"\u0000":0,"\ud800":1,"\udfff":2}`,
  'an array of 10,000 strings, a line each, with characters of every length',
)

/** What JSON.parse changes, or JSON.stringify after it. */
export const parsedOtherwise = named(
  '{"__proto__":{"a":1},"constructor":2}',
  '[-0,0,-0.0]',
  '[1e400,-1e400,1e-400]',
  '{"b":1,"10":2,"a":3,"9":4,"-1":5}',
)

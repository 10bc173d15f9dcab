import fc from 'fast-check'

/** Careless and hostile values for ids, names and numbers. */
// biome-ignore format: a list to read
const nastyTexts = [
  '', '.', '..', '%2e%2e', '%2F', '%5C', '%00', 'a%00b', '%', '%zz', '%ff', '%E0%A4%A', '%0d%0aX:%20y', '%EF%BC%A1',
  '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'null', 'undefined', 'NaN', 'true', '[]', '{}', '-0', '1e400',
  '0x10', '007', '1.0', '-1', '9007199254740993', '*', '#', '?', '&', '=', ';', "'", '"', '\\', '%22', '%27;--', '<x>',
  'x'.repeat(65), 'x'.repeat(1000), 'org', 'user', 'col', 'k1', '0', '1', '5', '200', '201', '253402300800',
]

const character = fc.constantFrom(...'abkZ019_-.~!$&\'()*+,;=:@%/\\#?[]{}|^`"<>')
const nasty = fc.oneof(fc.constantFrom(...nastyTexts), fc.string({ unit: character, maxLength: 12 }))

/** One path segment, possibly malformed. */
export const segment = nasty.map((text) => text.replaceAll('?', '%3F'))

const names = [
  'scope',
  'limit',
  'offset',
  'start',
  'end',
  'value',
  'collection',
  'key',
  'batch',
  'input',
  'connectionParams',
]
const odd = ['__proto__', 'constructor', 'toString', 'scope[]', 'SCOPE', '', 'access_token', '__proto__[scope]']
export const search = fc
  .array(fc.tuple(fc.constantFrom(...names, ...odd), nasty, fc.boolean()), { maxLength: 4 })
  .map((pairs) => pairs.map(([name, value, bare]) => (bare ? name : `${name}=${value}`)).join('&'))
  .map((text) => (text === '' ? '' : `?${text}`))

export const method = fc.constantFrom(
  ...[
    'GET',
    'GET',
    'GET',
    'PUT',
    'PUT',
    'PUT',
    'POST',
    'POST',
    'DELETE',
    'DELETE',
    'HEAD',
    'OPTIONS',
    'PATCH',
    'TRACE',
  ],
)

const key = fc.constantFrom(
  'value',
  'answers',
  'url',
  'secret',
  'collection',
  'key',
  'quizId',
  'id',
  'q1',
  '0',
  '1',
  ...odd,
)
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      fc.json({ maxDepth: 2 }),
      fc.constantFrom(
        '1e400',
        '-0',
        'null',
        '"\\u0000"',
        '"\\ud800"',
        '"https://a.b"',
        '"https://a.b/\\u0000"',
        '"Yes"',
      ),
      nasty.map((text) => JSON.stringify(text)),
    ),
    fc
      .array(fc.tuple(key, tie('json')), { maxLength: 4 })
      .map((pairs) => `{${pairs.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
    fc.array(tie('json'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    fc.integer({ min: 200, max: 300 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  ),
}))

/** Valid JSON, corrupted JSON and random bytes. */
export const body = fc.oneof(
  { weight: 6, arbitrary: json.map((text) => Buffer.from(text)) },
  {
    weight: 2,
    arbitrary: fc.tuple(json, fc.nat(), fc.nat(255)).map(([text, seed, byte]) => {
      const bytes = Buffer.from(text)
      if (bytes.length > 0) bytes[seed % bytes.length] = byte
      return bytes
    }),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
)

const value = fc.string({ unit: fc.constantFrom(...'ab"\\*,;/=W 0%\xff\t'), maxLength: 10 })
export const headers = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        ...[
          'If-Match',
          'If-None-Match',
          'If-Modified-Since',
          'Idempotency-Key',
          'X-Request-Id',
          'Range',
          'Accept',
          'Origin',
        ],
        ...[
          'Content-Encoding',
          'Upgrade',
          'X-Forwarded-Host',
          'Cache-Control',
          'Access-Control-Request-Method',
          'trpc-accept',
        ],
      ),
      fc.oneof(value, fc.constantFrom('*', '"x"', 'no-cache', 'identity', 'gzip', 'application/jsonl')),
    ),
    { maxLength: 3 },
  )
  .map((pairs) => pairs.map(([name, text]) => `${name}: ${text}`))

export const type = fc.constantFrom(
  ...['application/json', 'application/json', 'application/json', 'application/json; charset=utf-8', 'text/plain', ''],
)

import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { documents } from '../../rest-facade/openapi.ts'
import type { Response } from '../../rest-facade/openapi-operation.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import type { Reply } from './request.ts'

interface Header {
  required: boolean
  schema: { type: string }
}

/** What the documents speak of; a response has other headers as well. */
export const documentedHeaders = [
  'Allow',
  'ETag',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Error-Code',
  'X-Request-Id',
  'X-Storage-Limit',
  'X-Storage-Used',
]

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
for (const section of sectionNames) ajv.addSchema(documents()[section], section)

/** What the schema at a place of a document says of a value. */
function validate(section: Section, pointer: readonly (string | number)[], value: unknown): string[] {
  const path = pointer.map((one) => encodeURIComponent(String(one).replaceAll('~', '~0').replaceAll('/', '~1')))
  const check = ajv.getSchema(`${section}#/${path.join('/')}`)!
  return check(value) ? [] : check.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`)
}

const places = sectionNames.flatMap((section) =>
  Object.entries(documents()[section].paths).map(([path, operations]) => ({
    section,
    path,
    operations,
    matches: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]*')}$`),
  })),
)

/**
 * Compares an answer with the documents: status, headers, body and message. Throws what differs. `path` is one below `/v1`;
 * an address that no document has is no matter of the documents.
 */
export function expectDocumented(method: string, path: string, { status, headers, body, text }: Reply, brand: string) {
  const bare = path.replace(/\?.*$/s, '') || '/'
  const place = places.find(({ matches }) => matches.test(bare))
  if (!place || method === 'OPTIONS') return
  const { section, operations } = place
  const used = (method === 'HEAD' ? 'GET' : method).toLowerCase()
  // Another method is refused with what each operation of the address lists.
  const at = operations[used] ? used : Object.keys(operations)[0]!
  const found = operations[at]!.responses[status]
  const problems: string[] = []
  if (!found) problems.push('this status is not documented')
  else {
    problems.push(...headerProblems(found, headers, section))
    const isFile = found.content !== undefined && !('application/json' in found.content)
    if (isFile && found.content![headers['content-type'] as 'application/json'] === undefined)
      problems.push('another type')
    if (found.content && !isFile && method !== 'HEAD') {
      const pointer = ['paths', place.path, at, 'responses', status, 'content', 'application/json', 'schema']
      problems.push(...validate(section, pointer, body))
      if (status >= 400) problems.push(...messageProblems(found, readMessage(body), { section, brand }))
    } else if (!isFile && text !== '') problems.push('it has a body')
  }
  if (problems.length === 0) return
  const answer = `${status} ${JSON.stringify(headers)} ${text.slice(0, 500)}`
  throw new Error(`${method} ${path} is not as documented: ${problems.join('; ')}\n${answer}`)
}

const NUMBERS = /(?<=^Operation )\d+|\d+ s\.$/g

// biome-ignore lint/suspicious/noExplicitAny: any JSON
export const readMessage = (body: any): string => body?.detail ?? body?.error?.message

/** A documented message as a service says it: the index of an operation and how long to wait are other numbers each time. */
export const isMessage = (
  documented: string,
  message: string,
  { section, brand }: { section: Section; brand: string },
) =>
  documented.replace('<host>', `${section}.test`).replace('<brand>', brand).replace(NUMBERS, '') ===
  message.replace(NUMBERS, '')

function messageProblems({ content }: Response, message: string, at: { section: Section; brand: string }): string[] {
  const values = Object.values(content!['application/json'].examples!).map(({ value }) => readMessage(value))
  return values.some((one) => isMessage(one, message, at)) ? [] : [`“${message}” is not documented`]
}

function headerProblems({ headers = {} }: Response, given: Reply['headers'], section: Section): string[] {
  return documentedHeaders.flatMap((name) => {
    const value = given[name.toLowerCase()]
    if (!headers[name]) return value === undefined ? [] : [`the header ${name} is not documented`]
    const shared = documents()[section].components.headers![name] as Header
    const { required, schema } = '$ref' in headers[name] ? shared : (headers[name] as unknown as Header)
    if (value === undefined) return required ? [`the header ${name} is missing`] : []
    const isInteger = schema.type === 'integer'
    return validate(section, ['components', 'headers', name, 'schema'], isInteger ? Number(value) : value)
  })
}

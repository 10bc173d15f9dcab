import { describe, expect, it } from 'vitest'
import { resolved } from '../../server/reference/api-document.ts'
import { referencePage } from '../../server/reference/page.ts'
import { formatType, listFields } from '../../server/reference/schema-text.ts'

const urls = {
  apps: 'https://apps.example.org/v1',
  lms: 'https://lms.example.org/v1',
  notify: 'https://n.example.org/v1',
  sync: 'https://s.example.org/v1',
}
const json = (schema: object, more: object) => ({ content: { 'application/json': { schema, ...more } } })
const document = {
  info: { title: 'Boats', description: 'Boats of a `club`.\n\nA second paragraph.' },
  paths: {
    '/boats/{id}': {
      put: {
        operationId: 'boats-put',
        summary: 'Stores a <boat>',
        parameters: [
          {
            in: 'path',
            name: 'id',
            required: true,
            description: 'Of the boat.',
            schema: { type: 'string' },
            example: 'a/b',
          },
          { in: 'query', name: 'mode', schema: { type: 'string', enum: ['dry', 'wet'], default: 'dry' } },
          { in: 'header', name: 'If-Match', schema: { type: 'string', description: 'An ETag.' } },
        ],
        requestBody: json({ $ref: '#/components/schemas/Boat' }, { example: { name: "L'Orage", crew: [] } }),
        responses: {
          200: { description: 'Stored.', headers: { ETag: { $ref: '#/components/headers/ETag' } }, ...json({}, {}) },
          404: {
            description: 'Unknown.',
            ...json({}, { examples: { keyUnknown: { value: { detail: 'No <key>.' } } } }),
          },
          503: { description: 'Busy. / Away.' },
        },
        security: [{ member: ['svc.apps.storage:write'] }, { bearer: [] }],
      },
    },
  },
  components: {
    headers: { ETag: { description: 'The version.', schema: { type: 'string' } } },
    schemas: {
      Boat: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'As painted.' },
          crew: { type: 'array', items: { type: 'object', properties: { age: { type: 'integer', minimum: 0 } } } },
        },
        required: ['name'],
      },
      Detail: { type: 'object', description: 'An error.', properties: { detail: { type: 'string' } } },
    },
  },
}
/** A document that the build has not seen. */
const built = { language: 'curl' as const, code: {}, fill: (marked: string) => marked }
const page = (more = {}) => referencePage({ api: resolved(document), section: 'apps', urls, ...built, ...more })

describe('the page of a document', () => {
  const text = page()

  it('has each operation with its parameters, fields, headers and scope', () => {
    expect(text).toContain('<p>Boats of a <code>club</code>.</p><p>A second paragraph.</p>')
    expect(text).toContain('<section class="operation" id="boats-put">')
    expect(text).toContain('<a href="#boats-put"><b class="put">PUT</b> <span>/boats<wbr>/{id}</span></a>')
    expect(text).toContain('Requires the scope <code>svc.apps.storage:write</code>')
    expect(text).toContain(
      '<code>id</code> <span class="hint">path, string, required</span></dt><dd><p>Of the boat.</p>',
    )
    expect(text).toContain('query, &quot;dry&quot; or &quot;wet&quot;, default dry')
    expect(text).toContain('<code>name</code> <span class="hint">string</span></dt><dd><p>As painted.</p>')
    expect(text).toContain('<code>crew[].age</code> <span class="hint">integer, 0 or more, optional</span>')
    expect(text).toContain('<code>ETag</code> <span class="hint">header, string</span></dt><dd><p>The version.</p>')
  })

  it('links each example of an error to the row of its name, and shows the messages of others', () => {
    expect(text).toContain('<dd><a href="docs/errors#keyUnknown">No &lt;key&gt;.</a></dd>')
    expect(text).toContain('<dt><code>503</code></dt><dd><p>Busy.</p><p>Away.</p></dd>')
  })

  it('has code with links to other languages, and a field for each parameter and the body', () => {
    expect(text).toContain(`curl -X PUT 'https://apps.example.org/v1/boats/a%2Fb' \\\n`)
    // The SDK has no such function, and tRPC is offered once, to programs of the platform.
    expect(text).toContain(
      '<a href="?code=curl#boats-put" aria-current="true">curl</a><a href="?code=javascript#boats-put">JavaScript</a></div>',
    )
    expect(text).toMatch(/<form hidden data-method="PUT" data-path="\/boats\/\{id\}"/)
    for (const field of ['name="id" data-in="path" value="a/b"', 'name="mode" data-in="query"', 'name="If-Match"'])
      expect(text).toContain(field)
    expect(text).toContain('<option></option><option>dry</option><option>wet</option>')
    expect(text).toMatch(/<textarea name="body"[^>]*>\{\n {2}"name": "L'Orage"/)
  })

  it('has JavaScript where the SDK has no function, and tRPC where it was chosen', () => {
    expect(page({ language: 'sdk' })).toContain('<div class="block" data-code="javascript">')
    const trpc = page({ language: 'trpc' })
    expect(trpc).toContain('<a href="?code=trpc#boats-put" aria-current="true">tRPC</a>')
    expect(trpc).toContain('<div class="block" data-code="trpc">')
  })

  it('has what the build wrote, with the addresses of the service', () => {
    const code = { 'boats-put': { calls: { curl: 'a', python: '<i>AT</i>' }, answers: {} } }
    const fill = (marked: string) => marked.replace('AT', 'https://here')
    const text = page({ language: 'python', code, fill })
    expect(text).toContain('<div class="block" data-code="python"><pre tabindex="0"><code><i>https://here</i></code>')
    expect(text).toContain('<a href="?code=python#boats-put" aria-current="true">Python</a></div>')
  })

  it('quotes an apostrophe of the body for the shell', () => {
    expect(text).toContain('-d \'{\n  "name": "L\'\\\'\'Orage"')
  })

  it('escapes what a document says', () => {
    expect(text).not.toMatch(/<boat>|<key>/)
  })

  it('lists its operations by tag, the shapes of errors, the errors by status, and the other APIs', () => {
    for (const part of [
      '<a href="https://apps.example.org/v1/docs" aria-current="page">apps</a>',
      '<a href="https://lms.example.org/v1/docs">lms</a>',
      '<a href="#schema-Detail"><code>Detail</code></a>',
      '<section class="operation" id="schema-Detail">',
      '<a href="docs/errors#status-412">412</a>',
      '<a href="/docs">Documentation</a>',
    ])
      expect(text).toContain(part)
    // Its fields stand with the operation.
    expect(text).not.toContain('schema-Boat')
    expect(text.indexOf('>Operations</p>')).toBeLessThan(text.indexOf('href="#boats-put"'))
  })

  it('has once what each of several operations has, and a message that differs at its operation', () => {
    const put = document.paths['/boats/{id}'].put
    const errors = (method: string) => ({
      ...put.responses,
      404: { description: 'Unknown.', ...json({}, { examples: { keyUnknown: { value: { detail: 'No key.' } } } }) },
      405: { description: 'Other.', ...json({}, { examples: { methodWrong: { value: { detail: method } } } }) },
    })
    const paths = {
      '/a': { put: { ...put, operationId: 'a-put', responses: errors('Use GET.') } },
      '/b': { put: { ...put, operationId: 'b-put', responses: errors('Use POST.') } },
    }
    const two = referencePage({ api: resolved({ ...document, paths }), section: 'apps', urls, ...built })
    const [operations, common] = two.split('id="common"')
    for (const once of ['docs/errors#keyUnknown', '<code>ETag</code>']) {
      expect(operations).not.toContain(once)
      expect(common).toContain(once)
    }
    expect(operations!.match(/docs\/errors#methodWrong/g)).toHaveLength(2)
    expect(common).not.toContain('methodWrong')
    expect(text).not.toContain('id="common"')
  })

  it('signs in with the client that it is given, where members sign in here', () => {
    expect(text).toContain('data-issuer="" data-client=""')
    const signing = page({ issuer: 'https://auth.example.org/v1/oauth', client: 'mine' })
    expect(signing).toContain('data-issuer="https://auth.example.org/v1/oauth" data-client="mine"')
    expect(signing.match(/<button class="primary sign-in".*?<\/button>/g)).toEqual([
      expect.stringMatching(
        /^<button class="primary sign-in" data-kind="apps" data-scope="svc\.apps\.storage:write" data-more="svc\.me\.profile:read [^"]*">Sign in to try the calls</,
      ),
    ])
    expect(signing).not.toMatch(/data-more="[^"]*(?:lms|ntf|svc\.apps\.storage:write)/)
  })

  it('is at the host of another API with links that stay there, and calls its own addresses', () => {
    const other = page({ section: 'sync', host: 'apps' })
    expect(other).toContain('data-base="https://s.example.org/v1"')
    expect(other).toContain('<link rel="stylesheet" href="docs/style.css?api=sync">')
    expect(other).toContain('<a href="?api=sync&amp;code=curl#boats-put" aria-current="true">curl</a>')
    expect(other).not.toMatch(/href="\?code=/)
    expect(text).not.toContain('?api=')
  })
})

it.each([
  [{}, 'any JSON'],
  [{ type: 'integer', minimum: 1, maximum: 200 }, 'integer, 1 to 200'],
  [{ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, 'integer, 0 or more'],
  [{ type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }, 'integer'],
  [{ type: 'integer', minimum: 0, format: 'int64' }, 'integer, 0 or more'],
  [{ type: 'string', format: 'date' }, 'string, date'],
  [{ const: 'apps' }, '"apps"'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string or null'],
  [{ type: ['string', 'null'] }, 'string or null'],
  [{ type: 'array', items: { type: 'string' } }, 'array of string'],
  [{ type: 'object', additionalProperties: { type: 'number' } }, 'object of number'],
])('a schema in words %j is %s', (schema, words) => {
  expect(formatType(schema as never)).toBe(words)
})

it('the fields of a schema have a field that several choices share once, and one that differs for each', () => {
  const of = (type: string) => ({ properties: { key: { type: 'string' }, value: { type } }, required: ['key'] })
  const schema = { type: 'array', items: { anyOf: [of('string'), of('integer')] } }
  const names = listFields(schema as never).map(({ name }) => name)
  expect(names).toEqual(['[].key', '[].value', '[].value'])
})

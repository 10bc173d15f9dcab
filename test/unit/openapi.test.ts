import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { toOperationId } from '../../rest-facade/document.ts'
import { documents } from '../../rest-facade/openapi.ts'
import { nameModels } from '../../rest-facade/openapi-models.ts'
import type { Json } from '../../rest-facade/openapi-operation.ts'
import { routes } from '../../rest-facade/routes.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import { resolved } from '../../server/reference/api-document.ts'

const listOperations = (section: (typeof sectionNames)[number]) =>
  Object.entries(documents()[section].paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
  )
const resolveSchema = (section: (typeof sectionNames)[number], schema: Json) =>
  resolved({ ...documents()[section], schema }) as unknown as { schema: Json }

/** The properties of a schema, of its parts, and of theirs. */
function listProperties(schema: Json, name: string): [string, Json][] {
  const {
    properties = {},
    items,
    anyOf = [],
  } = schema as {
    properties?: Record<string, Json>
    items?: Json
    anyOf?: Json[]
  }
  const own = Object.entries(properties).map(([key, one]): [string, Json] => [`${name}.${key}`, one])
  const parts: [string, Json][] = [
    ...own,
    ...[...anyOf, ...(items ? [items] : [])].map((one): [string, Json] => [name, one]),
  ]
  return [...own, ...parts.flatMap(([key, one]) => listProperties(one, key))]
}

/** The objects within a body that are no models. The body itself may be one: generators name it by its operation. */
const listUnnamed = (body: Json, name: string) =>
  listProperties(body, name)
    .filter(([, { properties, items, anyOf = [] }]) =>
      [{ properties }, items as Json | undefined, ...(anyOf as Json[])].some((one) => one?.properties),
    )
    .map(([property]) => property)

/** All integers, also of headers and parameters, but not of examples. */
function listIntegers(part: unknown, name: string): [string, Json][] {
  if (typeof part !== 'object' || part === null) return []
  const { type } = part as Json
  const inner = Object.entries(part).filter(([key]) => key !== 'example' && key !== 'examples')
  return [
    ...([type].flat().includes('integer') ? [[name, part] as [string, Json]] : []),
    ...inner.flatMap(([key, one]) => listIntegers(one, `${name}.${key}`)),
  ]
}

describe.each(sectionNames)('the document of %s', (section) => {
  const { info, tags, components } = documents()[section]
  const operations = listOperations(section)

  it('has for each operation the input that the routing table has', () => {
    const documented = Object.entries(documents()[section].paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { parameters = [], requestBody, responses, operationId }]) => {
        const query = parameters.filter((parameter) => parameter.in === 'query')
        const ofType = (type: string) => query.filter(({ schema }) => schema?.type === type).map(({ name }) => name)
        return {
          name: operationId,
          line: `${method.toUpperCase()} ${path}`,
          status: Object.keys(responses).find((status) => status.startsWith('2')),
          query: query.map(({ name }) => name).sort(),
          integers: ofType('integer').sort(),
          booleans: ofType('boolean').sort(),
          body: Object.keys(requestBody?.content['application/json'].schema.properties ?? {}).sort(),
        }
      }),
    )
    const routed = routes
      .filter((route) => route.section === section)
      .map((route) => ({
        name: toOperationId(route.name),
        line: `${route.method} ${route.path}`,
        status: String(route.status),
        query: [...route.fromQuery].sort(),
        integers: [...route.integers].sort(),
        booleans: [...route.booleans].sort(),
        body: [...route.fromBody].sort(),
      }))
    const byLine = (a: { line: string }, b: { line: string }) => (a.line < b.line ? -1 : 1)
    expect(routed.length).toBeGreaterThan(0)
    expect(routed.sort(byLine)).toEqual(documented.sort(byLine))
  })
  const bodies = operations.flatMap(({ name, requestBody, responses }) => [
    ...(requestBody ? [{ name: `${name} body`, ...requestBody.content['application/json'] }] : []),
    ...Object.entries(responses)
      .filter(([status, { content }]) => status < '300' && content?.['application/json'])
      .map(([status, { content }]) => ({ name: `${name} ${status}`, ...content!['application/json'] })),
  ])
  const schemas: [string, Json][] = [
    ...bodies.map(({ name, schema }): [string, Json] => [name, schema]),
    ...Object.entries(components.schemas as Record<string, Json>),
  ]

  it('leaves nothing undescribed', () => {
    const described: [string, { description?: unknown }][] = [
      [section, info],
      ...tags!.map((tag): [string, Json] => [tag.name, tag]),
      ...operations.flatMap(({ name, parameters = [], requestBody, responses, ...operation }) => [
        [name, operation] as [string, typeof operation],
        ...(requestBody ? [[`${name} body`, requestBody] as [string, typeof requestBody]] : []),
        ...parameters.map((one): [string, typeof one] => [`${name} ${one.name}`, one]),
        ...Object.entries(responses).map(([status, one]): [string, typeof one] => [`${name} ${status}`, one]),
      ]),
      ...Object.entries({ ...components.headers, ...components.schemas, ...components.securitySchemes } as Record<
        string,
        Json
      >),
      ...schemas.flatMap(([name, schema]) => listProperties(schema, name)),
    ]
    expect(described.length).toBeGreaterThan(30)
    const isSentence = (text: unknown) => typeof text === 'string' && /^[A-Z0-9`].{8,}[^ ]$/s.test(text)
    expect(described.filter(([, { description }]) => !isSentence(description)).map(([name]) => name)).toEqual([])
  })

  it('has an example of each parameter, body and success, which its schema allows', () => {
    const ajv = new Ajv2020({ strict: false })
    addFormats.default(ajv)
    const parameters = operations.flatMap(({ name, parameters = [] }) =>
      parameters
        .filter((one) => one.in !== 'header' && one.name !== 'since')
        .map((one) => ({ name: `${name} ${one.name}`, schema: one.schema!, example: one.example })),
    )
    const samples = bodies.map(({ examples, ...body }) => ({ ...body, example: examples?.sample?.value }))
    for (const { name, schema, example } of [...parameters, ...samples]) {
      expect([name, example]).not.toEqual([name, undefined])
      const whole = resolveSchema(section, schema).schema
      expect([name, ajv.validate(whole, example), ajv.errors]).toEqual([name, true, null])
    }
  })

  it('has no example of an ETag, cursor or key, which comes from another request', () => {
    const examples = operations
      .flatMap(({ parameters = [] }) => parameters)
      .filter((one) => one.in === 'header' || one.name === 'since')
      .map(({ example }) => example)
    expect(examples.every((example) => example === undefined)).toBe(true)
  })

  it('names operations in camel case, each once', () => {
    const ids = operations.map(({ operationId }) => operationId)
    for (const id of ids) expect(id).toMatch(/^[a-z]+(?:[A-Z][a-z]+)*$/)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('asks for a bearer token first', () => {
    expect(Object.keys(components.securitySchemes)[0]).toBe('bearer')
    for (const { security } of operations) expect(security![0]).toEqual({ bearer: [] })
  })

  it('says null as one of the types, and has no escaped slash in a pattern', () => {
    const all = schemas.flatMap(([name, schema]) => [[name, schema] as const, ...listProperties(schema, name)])
    for (const [name, { anyOf = [], pattern = '' }] of all) {
      const types = (anyOf as Json[]).map(({ type }) => type)
      expect([name, types]).not.toEqual([name, ['string', 'null']])
      expect([name, types]).not.toEqual([name, ['integer', 'null']])
      expect([name, pattern]).not.toEqual([name, expect.stringContaining('\\/')])
    }
  })

  it('has the format of each integer that 32 bits do not hold', () => {
    const integers = listIntegers(documents()[section], section)
    expect(integers.length).not.toBe(0)
    for (const [name, { maximum = Number.POSITIVE_INFINITY, format }] of integers)
      expect([name, format]).toEqual([name, Number(maximum) > 2 ** 31 - 1 ? 'int64' : undefined])
  })

  it('has a model for each object within a body or a model', () => {
    const bodies = operations.flatMap(({ name, requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].map((body) => [name, body?.content?.['application/json']?.schema]),
    ) as [string, Json | undefined][]
    const models = Object.entries(components.schemas as Record<string, Json>)
    const every = [...bodies, ...models]
    expect(every.flatMap(([name, schema]) => (schema ? listUnnamed(schema, name) : []))).toEqual([])
    expect(Object.keys(components.schemas!).length).toBeGreaterThan(1)
  })

  it('tells every property by an example', () => {
    const leaves = schemas
      .flatMap(([name, schema]) => listProperties(schema, name))
      .filter(
        ([, { properties, items, anyOf, pattern, $ref }]) =>
          !properties && !(items as Json)?.properties && !(items as Json)?.$ref && !$ref && !anyOf && !pattern,
      )
    expect(leaves.filter(([, { examples }]) => !examples).map(([name]) => name)).toEqual([])
  })

  it('has one tag for each operation', () => {
    const known = tags!.map(({ name }) => name)
    for (const { name, tags = [] } of operations)
      expect([name, tags.length, known]).toEqual([name, 1, expect.arrayContaining(tags)])
  })

  it('names the examples of errors by the rows of the catalogue', () => {
    for (const { responses } of operations) {
      for (const [status, { content }] of Object.entries(responses)) {
        if (status < '400') continue
        const rows = Object.keys(content!['application/json'].examples!)
        expect(rows).not.toEqual([])
        for (const row of rows) expect(errors).toHaveProperty(row)
      }
    }
  })

  it('has the version of the release', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(info.version).toBe(version)
  })
})

describe('the name of a model', () => {
  const withSchemas = (...schemas: Json[]) => ({
    ...documents().lms,
    paths: Object.fromEntries(
      schemas.map((schema, i) => [
        `/${i}`,
        {
          get: {
            ...listOperations('lms')[0]!,
            responses: { 200: { description: '', content: { 'application/json': { schema } } } },
          },
        },
      ]),
    ),
    components: { securitySchemes: {} },
  })

  it('is that of one schema', () => {
    const boat = { title: 'Boat', type: 'object', properties: { title: { type: 'string' } } }
    const one = withSchemas(boat, { type: 'array', items: boat })
    nameModels(one)
    expect(one.components).toEqual({
      securitySchemes: {},
      schemas: { Boat: { type: 'object', properties: { title: { type: 'string' } } } },
    })
    expect(one.paths['/1']!.get!.responses['200']!.content!['application/json'].schema).toEqual({
      type: 'array',
      items: { $ref: '#/components/schemas/Boat' },
    })
    expect(() => nameModels(withSchemas(boat, { ...boat, type: 'string' }))).toThrow('Two models are named Boat.')
  })
})

import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { documents } from '../../rest-facade/openapi.ts'
import type { Json } from '../../rest-facade/openapi-operation.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'

const operationsOf = (section: (typeof sectionNames)[number]) =>
  Object.entries(documents[section].paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
  )

/** The properties of a schema, of its parts, and of theirs. */
function propertiesOf(schema: Json, name: string): [string, Json][] {
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
  return [...own, ...parts.flatMap(([key, one]) => propertiesOf(one, key))]
}

describe.each(sectionNames)('the document of %s', (section) => {
  const { info, tags, components } = documents[section]
  const operations = operationsOf(section)
  const bodies = operations.flatMap(({ name, requestBody, responses }) => [
    ...(requestBody ? [{ name: `${name} body`, ...requestBody.content['application/json'] }] : []),
    ...Object.entries(responses)
      .filter(([status, { content }]) => status < '300' && content)
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
      ...schemas.flatMap(([name, schema]) => propertiesOf(schema, name)),
    ]
    expect(described.length).toBeGreaterThan(30)
    const isSentence = (text: unknown) => typeof text === 'string' && /^[A-Z0-9`].{8,}[^ ]$/s.test(text)
    expect(described.filter(([, { description }]) => !isSentence(description)).map(([name]) => name)).toEqual([])
  })

  it('has an example of each parameter, body and success, which its schema allows', () => {
    const ajv = new Ajv2020({ strict: false })
    addFormats.default(ajv)
    const parameters = operations.flatMap(({ name, parameters = [] }) =>
      parameters.map((one) => ({ name: `${name} ${one.name}`, schema: one.schema!, example: one.example })),
    )
    for (const { name, schema, example } of [...parameters, ...bodies]) {
      expect([name, example]).not.toEqual([name, undefined])
      expect([name, ajv.validate(schema, example), ajv.errors]).toEqual([name, true, null])
    }
  })

  it('tells every property by an example', () => {
    const leaves = schemas
      .flatMap(([name, schema]) => propertiesOf(schema, name))
      .filter(
        ([, { properties, items, anyOf, pattern }]) =>
          !properties && !(items as Json)?.properties && !anyOf && !pattern,
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

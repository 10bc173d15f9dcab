import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../rest-facade/routes.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import { memberScopes, scopes, sectionNames, storageScopes } from '../../routers/kernel/scopes.ts'
import { buildMetadata } from '../../server/oauth/engine/metadata.ts'
import { isMessage, readMessage } from '../support/documented.ts'
import type { Reply } from '../support/request.ts'
import { useWorld } from '../support/started.ts'
import { collectAnswers, formatName, listRows, places } from './collect-answers.ts'
import { provoke } from './provoke-answers.ts'

const world = useWorld()

const withSignIn = useWorld({ auth: {}, brand: 'Rowing "8+"', authBaseUrl: 'https://auth.test/v1' })

const read = async (api: Section, of = world) => (await of.call('GET', '/openapi.json', { api, token: null })).body

describe.each(sectionNames)('the OpenAPI document of %s', (api) => {
  it('passes an independent OpenAPI 3.1 validator', async () => {
    const document = await read(api)
    expect(document.openapi).toBe('3.1.0')
    expect(await new Validator().validate(document)).toMatchObject({ valid: true })
    expect(document.servers).toEqual([{ url: `http://${api}.test/v1` }])
  })

  it('lists the endpoints of its section with their statuses and scopes', async () => {
    const { paths } = await read(api, withSignIn)
    // biome-ignore lint/suspicious/noExplicitAny: any JSON
    const described = Object.entries<any>(paths).flatMap(([path, operations]) =>
      // biome-ignore lint/suspicious/noExplicitAny: any JSON
      Object.entries<any>(operations).map(([method, { responses, security }]) => {
        const success = Object.keys(responses).filter((status) => status.startsWith('2'))
        return [method.toUpperCase(), path, ...success, ...Object.values(security[1])].flat().join(' ')
      }),
    )
    const served = routes
      .filter(({ section }) => section === api)
      .map(({ method, path, meta }) =>
        [method, path, meta.status ?? 200, ...(meta.scope ? [meta.scope] : [])].join(' '),
      )
    expect(described.sort()).toEqual(served.sort())
  })

  it('names for the sign-in the scopes of its endpoints', async () => {
    const { securitySchemes } = (await read(api, withSignIn)).components
    const needed = new Set(routes.filter(({ section }) => section === api).map(({ meta }) => meta.scope))
    expect(Object.keys(securitySchemes.member.flows.authorizationCode.scopes)).toEqual(
      memberScopes.filter((scope) => needed.has(scope)),
    )
  })

  it('names neither the authorization server nor another service than its own', async () => {
    const text = JSON.stringify(await read(api))
    expect(text).toContain(`This API answers at ${api}.test.`)
    expect(text).not.toMatch(/<(?:brand|host|issuer)>/)
  })
})

describe('the OpenAPI document', () => {
  it('states how to sign in, with the addresses of the authorization server, where that is ours', async () => {
    const { body } = await withSignIn.call('GET', '/openapi.json', { token: null })
    const { flows } = body.components.securitySchemes.member
    const metadata = buildMetadata('https://auth.test/v1/oauth')
    expect(flows.authorizationCode).toMatchObject({
      authorizationUrl: metadata.authorization_endpoint,
      tokenUrl: metadata.token_endpoint,
      refreshUrl: metadata.token_endpoint,
    })
    const asked = memberScopes.filter((scope) => scopes[scope].section === 'apps')
    expect(Object.keys(flows.authorizationCode.scopes)).toEqual(asked)
    expect(body.paths['/me/profile'].get.security).toEqual([{ bearer: [] }, { member: ['svc.me.profile:read'] }])
  })

  it('states how the server of an app gets a token, where no member is needed', async () => {
    const { components, paths } = await read('sync', withSignIn)
    const { clientCredentials } = components.securitySchemes.app.flows
    expect(clientCredentials.tokenUrl).toBe(buildMetadata('https://auth.test/v1/oauth').token_endpoint)
    expect(Object.keys(clientCredentials.scopes)).toEqual(storageScopes)
    const [reading, write] = storageScopes.map((scope) => [scope])
    expect(paths['/collections'].get.security).toEqual([{ bearer: [] }, { member: reading }, { app: reading }])
    expect(paths['/collections/{collection}/rules'].put.security).toEqual([{ bearer: [] }, { app: write }])
  })

  it('leaves that out with an external issuer', async () => {
    const { components, paths } = await read('apps')
    expect(Object.keys(components.securitySchemes)).toEqual(['bearer'])
    expect(paths['/me/profile'].get.security).toEqual([{ bearer: [] }])
  })

  it('has the brand of the service in its messages', async () => {
    const { paths } = (await withSignIn.call('GET', '/openapi.json', { token: null })).body
    const { examples } = paths['/storage/{collection}'].get.responses['403'].content['application/json']
    expect(examples.clientNotApp.value).toEqual({ detail: 'This client is not a Rowing "8+" app.' })
  })

  it('describes PUT with scope in the query, conditions in headers and one field in the body', async () => {
    const { put } = (await read('apps')).paths['/storage/{collection}/{key}']
    const places = put.parameters.map((one: { in: string; name: string }) => `${one.in} ${one.name}`)
    expect(places.sort()).toEqual([
      'header Idempotency-Key',
      'header If-Match',
      'header If-None-Match',
      'path collection',
      'path key',
      'query scope',
    ])
    expect(put.requestBody).toMatchObject({
      required: true,
      content: {
        'application/json': {
          schema: { properties: { value: {} }, required: ['value'], additionalProperties: false },
        },
      },
    })
  })

  it.each([
    ['apps', '/storage/{collection}/{key}', 'put'],
    ['apps', '/storage/{collection}/{key}', 'delete'],
    ['sync', '/batch', 'post'],
  ] as const)('of %s lists Idempotency-Key as an optional header of %s %s', async (section, path, method) => {
    const { parameters, responses } = (await read(section)).paths[path][method]
    const key = parameters.find((one: { name: string }) => one.name === 'Idempotency-Key')
    expect(key).toMatchObject({ in: 'header', required: false, schema: { type: 'string' } })
    const rows = (status: number) => Object.keys(responses[status].content['application/json'].examples)
    expect(rows(400)).toContain('idempotencyKeyInvalid')
    expect(rows(409)).toEqual(['idempotencyMismatch'])
    expect(rows(429)).toContain('keysLimited')
  })

  it('lists Idempotency-Key as a header', async () => {
    const { post } = (await read('lms')).paths['/quizzes/{quizId}/results']
    expect(post.parameters.map((one: { name: string }) => one.name)).toEqual(['quizId', 'Idempotency-Key'])
    expect(Object.keys(post.requestBody.content['application/json'].schema.properties)).toEqual(['answers'])
  })

  it('describes 204 without a body', async () => {
    const { delete: remove } = (await read('notify')).paths['/apps/{id}/webhook']
    expect(remove.responses['204']).not.toHaveProperty('content')
    expect(remove).not.toHaveProperty('requestBody')
  })

  it('is served to GET and HEAD at the host of a section only', async () => {
    const get = (host: string) => world.call('GET', '/openapi.json', { host, token: null })
    expect((await get('elsewhere.test')).status).toBe(404)
    expect(await world.call('POST', '/openapi.json', { token: null, body: {} })).toMatchObject({
      status: 405,
      headers: { allow: 'HEAD, GET' },
    })
    expect(await world.call('HEAD', '/openapi.json', { token: null })).toMatchObject({ status: 200, text: '' })
    expect(await world.call('OPTIONS', '/openapi.json', { token: null })).toMatchObject({ status: 204 })
  })
})

/** Nothing that is documented never occurs; that nothing else occurs is compared with each answer (test/support/documented.ts). */
let answers: Map<string, Reply[]>
const ends: (() => Promise<void>)[] = []
beforeAll(async () => {
  answers = await collectAnswers((end) => void ends.unshift(end))
})
afterAll(async () => {
  for (const end of ends) await end()
})

describe.each(places.map((place) => [formatName(place), place] as const))('%s', (name, { section, operation }) => {
  it('gives each documented answer', () => {
    const given = (status: string, documented: unknown) =>
      answers.get(name)!.some((reply) => {
        const at = { section, brand: 'the service' }
        if (reply.status !== Number(status)) return false
        return documented === undefined || isMessage(readMessage(documented), readMessage(reply.body), at)
      })
    const missing = Object.entries(operation.responses).flatMap(([status, { content }]) => {
      const examples = Object.entries(content?.['application/json']?.examples ?? {})
      if (examples.length === 0 || status < '400') return given(status, undefined) ? [] : [status]
      return examples.filter(([, { value }]) => !given(status, value)).map(([row]) => `${status} ${row}`)
    })
    expect(missing).toEqual([])
  })

  it('gives each documented header and shape', () => {
    const missing = Object.entries(operation.responses).flatMap(([status, { headers = {}, content }]) => {
      const replies = answers.get(name)!.filter((reply) => reply.status === Number(status))
      const has = (header: string) => replies.some((reply) => reply.headers[header.toLowerCase()] !== undefined)
      const { oneOf = [] } = (content?.['application/json']?.schema ?? {}) as { oneOf?: { $ref: string }[] }
      const shapes = oneOf.map(({ $ref }) => ($ref.endsWith('Detail') ? 'detail' : 'error'))
      return [
        ...Object.keys(headers).filter((header) => !has(header)),
        ...shapes.filter((shape) => !replies.some(({ body }) => shape in body)),
      ].map((one) => `${status} ${one}`)
    })
    expect(missing).toEqual([])
  })
})

describe('the ways to provoke an answer', () => {
  it('are those of documented answers', () => {
    const rows = new Set(places.flatMap(listRows))
    const elsewhere = ['requestInvalid', 'bodyTooSlow', 'internal', 'unavailable']
    expect([...rows].sort()).toEqual([...Object.keys(provoke), ...elsewhere].sort())
  })
})

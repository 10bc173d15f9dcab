import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../rest-facade/routes.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const read = async (api: 'apps' | 'lms' | 'notify') =>
  (await world.call('GET', '/openapi.json', { api, token: null })).body

describe.each(['apps', 'lms', 'notify'] as const)('the OpenAPI document of %s', (api) => {
  it('passes an independent OpenAPI 3.1 validator', async () => {
    const document = await read(api)
    expect(document.openapi).toBe('3.1.0')
    expect(await new Validator().validate(document)).toMatchObject({ valid: true })
    expect(document.servers).toEqual([{ url: `http://${api}.test/v1` }])
  })

  it('lists the endpoints of its section with their statuses and scopes', async () => {
    const { paths } = await read(api)
    // biome-ignore lint/suspicious/noExplicitAny: any JSON
    const described = Object.entries<any>(paths).flatMap(([path, operations]) =>
      // biome-ignore lint/suspicious/noExplicitAny: any JSON
      Object.entries<any>(operations).map(([method, { responses, security }]) => {
        const success = Object.keys(responses).filter((status) => status.startsWith('2'))
        return [method.toUpperCase(), path, ...success, ...security[0].bearer].join(' ')
      }),
    )
    const served = routes
      .filter(({ section }) => section === api)
      .map(({ method, path, meta }) =>
        [method, path, meta.status ?? 200, ...(meta.scope ? [meta.scope] : [])].join(' '),
      )
    expect(described.sort()).toEqual(served.sort())
  })

  it('describes each error in its envelope', async () => {
    const { paths, components } = await read(api)
    // biome-ignore lint/suspicious/noExplicitAny: any JSON
    for (const { responses } of Object.values<any>(paths).flatMap((operations) => Object.values<any>(operations))) {
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '429', '503']))
      for (const [status, response] of Object.entries<{ content: { 'application/json': { schema: object } } }>(
        responses,
      )) {
        if (status.startsWith('2')) continue
        const detail = api === 'apps' && !['401', '429', '503'].includes(status)
        expect(response.content['application/json'].schema).toEqual({
          $ref: `#/components/schemas/${detail ? 'Detail' : 'Error'}`,
        })
      }
    }
    expect(Object.keys(components.schemas).sort()).toEqual(api === 'apps' ? ['Detail', 'Error'] : ['Error'])
  })
})

describe('the OpenAPI document', () => {
  it('describes PUT with scope in the query, conditions in headers and one field in the body', async () => {
    const { put } = (await read('apps')).paths['/storage/{collection}/{key}']
    const places = put.parameters.map((one: { in: string; name: string }) => `${one.in} ${one.name}`)
    expect(places.sort()).toEqual([
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

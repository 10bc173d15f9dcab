import { beforeAll, describe, expect, it } from 'vitest'
import { started } from '../support/started.ts'
import { detail, scopeInvalid, startRawService, titledTexts } from './raw-service.ts'

const service = started(startRawService)
beforeAll(async () => {
  for (const [query, value] of [
    ['', 'org'],
    ['?scope=user', 'user'],
  ]) {
    const put = service.request(`PUT /v1/storage/col/k1${query}`, { body: JSON.stringify({ value }) })
    expect((await service.answerTo(put)).status).toBe(200)
  }
})

describe('scope', () => {
  const wrong = [
    'scope=org&scope=user',
    'scope=user&scope=user',
    'scope=org&%73cope=org',
    'scope=',
    'scope',
    'scope&scope=org',
    'scope=ORG',
    'scope=org%20',
    'scope=+org',
    'scope=%00',
    'scope=user%00',
    'scope=%ff',
    'scope=%zz',
    'scope=constructor',
    'scope=__proto__',
    'scope=[object Object]'.replace(' ', '%20'),
    `scope=${'user'.repeat(2560)}`,
  ]

  it.each(wrong)('returns 422 for %j on every storage endpoint', async (query) => {
    const refuse = (line: string, sent = {}) => service.expectRefused(service.request(line, sent), 422, scopeInvalid)
    await refuse(`GET /v1/storage/col?${query}`)
    await refuse(`GET /v1/storage/col/k1?${query}`)
    await refuse(`PUT /v1/storage/col/k1?${query}`, { body: '{"value":"changed"}' })
    await refuse(`PUT /v1/storage/col/new?${query}`, { body: 'no JSON' })
    await refuse(`DELETE /v1/storage/col/k1?${query}`)
  })

  it.each([
    ['scope=user', 'user'],
    ['%73cope=use%72', 'user'],
    ['scope=user&foo=1', 'user'],
    ['&&scope=user&', 'user'],
    ['scope=org', 'org'],
  ])('is read from %j, also by PUT and DELETE', async (query, value) => {
    const get = () => service.answerTo(service.request(`GET /v1/storage/col/k1?${query}`))
    expect(JSON.parse((await get()).text).value).toBe(value)
    const put = service.request(`PUT /v1/storage/col/k1?${query}`, { body: '{"value":"changed"}' })
    expect((await service.answerTo(put)).status).toBe(200)
    expect(JSON.parse((await get()).text).value).toBe('changed')
    const other = value === 'user' ? '' : '?scope=user'
    const untouched = await service.answerTo(service.request(`GET /v1/storage/col/k1${other}`))
    expect(JSON.parse(untouched.text).value).toBe(value === 'user' ? 'org' : 'user')
    expect((await service.answerTo(service.request(`DELETE /v1/storage/col/k1?${query}`))).status).toBe(204)
    const back = service.request(`PUT /v1/storage/col/k1?${query}`, { body: JSON.stringify({ value }) })
    expect((await service.answerTo(back)).status).toBe(200)
  })
})

describe('an unknown parameter', () => {
  const unknown = [
    'scope[]=user',
    'SCOPE=user',
    'Scope=user',
    'scope.x=user',
    'foo=1',
    'collection=zzz',
    'key=other',
    'value=1',
    '__proto__=x',
    '__proto__[scope]=user',
    'constructor=x',
    'constructor[prototype][scope]=user',
    'toString=x',
    'hasOwnProperty=x',
    'access_token=x',
    '=user',
    '=',
    '&',
    '?',
    '%',
    '%zz=%zz',
    '%ff=%00',
    '\\=/',
    `${'a=1&'.repeat(3000)}`,
  ]

  it.each(titledTexts(unknown))('is ignored: %s', async (_, query) => {
    const value = async (line: string) => JSON.parse((await service.answerTo(service.request(line))).text)
    expect(await value(`GET /v1/storage/col/k1?${query}`)).toMatchObject({ key: 'k1', value: 'org' })
    expect(await value(`GET /v1/storage/col?${query}`)).toMatchObject({ total: 1, items: [{ key: 'k1' }] })
    expect(await value(`GET /v1/me/events?${query}`)).toEqual({ items: [] })
    expect(await value(`GET /v1/?${query}`)).toMatchObject({ api: 'apps' })
    const put = service.request(`PUT /v1/storage/col/k1?${query}`, { body: '{"value":"org"}' })
    expect((await service.answerTo(put)).status).toBe(200)
  })
})

describe('a number', () => {
  const none = ['', '%20', 'abc', '1.5', '1.0', 'Infinity', '-Infinity', 'NaN', 'null', 'true', '[]', '{}', '1e400']
  const notPlain = ['1e2', '0x10', '0b1', '007', '00', '+5', '%2B5', '%205', '5%20', '5%00', '-0', '1_0', '5,0', '5n']
  const tooBig = ['9007199254740993', '1'.repeat(17), '9'.repeat(10_000)]
  const other = ['%D9%A5', '%EF%BC%95', '%ff']
  const of = (text: string) => [text.slice(0, 20), text] as const
  const wrong = [...none, ...notPlain, ...other].map(of)
  const refuse = async (query: string, message: string) => {
    await service.expectRefused(service.request(`GET /v1/storage/col?${query}`), 422, detail(message))
  }

  it.each([...wrong, ...tooBig.map(of), of('0'), of('201'), of('-1')])(
    'returns 422 for the limit %j',
    async (_, text) => {
      await refuse(`limit=${text}`, 'limit is 1 to 200.')
    },
  )

  it.each([...wrong, of('-1')])('returns 422 for the offset %j', async (_, text) => {
    await refuse(`offset=${text}`, 'offset is 0 or more.')
  })

  it.each([...wrong, ...tooBig.map(of), of('-1'), of('253402300800')])(
    'returns 422 for the time %j',
    async (_, text) => {
      const refusal = detail('start and end are Unix seconds.')
      await service.expectRefused(service.request(`GET /v1/me/events?start=${text}`), 422, refusal)
      await service.expectRefused(service.request(`GET /v1/me/events?end=${text}`), 422, refusal)
    },
  )

  it('returns 422 when it is repeated or has no value', async () => {
    for (const query of ['limit=5&limit=5', 'limit=5&limit=6', 'limit', 'limit&limit=5'])
      await refuse(query, 'limit is 1 to 200.')
    for (const query of ['offset=0&offset=0', 'offset', 'offset&offset=1']) await refuse(query, 'offset is 0 or more.')
    for (const query of ['start=1&start=1', 'start', 'end', 'start=1&end=2&end=2']) {
      const sent = service.request(`GET /v1/me/events?${query}`)
      await service.expectRefused(sent, 422, detail('start and end are Unix seconds.'))
    }
  })

  it.each(['limit=1', 'limit=200', 'limit=%31', 'offset=0', 'limit=1&offset=0', 'offset=%30&limit=20%30'])(
    'is read from %j',
    async (query) => {
      const answer = await service.answerTo(service.request(`GET /v1/storage/col?${query}`))
      expect(JSON.parse(answer.text)).toMatchObject({ total: 1, items: [{ key: 'k1' }] })
    },
  )

  it('may have any size as an offset', async () => {
    for (const offset of ['1', '2147483648', '9007199254740991', ...tooBig]) {
      const answer = await service.answerTo(service.request(`GET /v1/storage/col?offset=${offset}`))
      expect(answer).toMatchObject({ status: 200, text: '{"items":[],"total":1}' })
    }
  })

  it('is checked after the name of the collection', async () => {
    const sent = service.request('GET /v1/storage/%00?limit=0&offset=x&scope=x')
    await service.expectRefused(sent, 422, detail("Names use 1 to 64 letters, digits, '_' or '-'."))
  })
})

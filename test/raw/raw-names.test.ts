import { describe, expect, it } from 'vitest'
import { started } from '../support/started.ts'
import {
  error,
  expectCommonHeaders,
  expectError,
  nameInvalid,
  notHttp,
  startRawService,
  titledTexts,
} from './raw-service.ts'
import { Connection } from './socket.ts'

const service = started(startRawService)

/** The bytes of a text in UTF-8, one character each. */
const raw = (text: string) => Buffer.from(text).toString('latin1')
const put = (target: string) => service.request(`PUT ${target}`, { body: '{"value":1}' })

describe('a name with UTF-8 that is not percent-encoded', () => {
  it.each(
    titledTexts([
      '/v1/storage/größe/k',
      '/v1/storage/c/größe',
      '/v1/storage/c/漢字?scope=user',
      '/v1/storage/c/%C3%A9é',
      '/v1/storage/é/é',
    ]),
  )('is 422: %s', async (_, target) => {
    await service.expectRefused(put(raw(target)), 422, nameInvalid)
    await service.expectRefused(service.request(`DELETE ${raw(target)}`), 422, nameInvalid)
    expectCommonHeaders(await service.expectRefused(service.request(`GET ${raw(target)}`), 422, nameInvalid))
  })

  it('is 422 in a list, and behind another request in the same packet', async () => {
    await service.expectRefused(service.request(`GET ${raw('/v1/storage/größe?limit=5')}`), 422, nameInvalid)
    const connection = await Connection.open(service.world.publicPort)
    const list = service.request('GET /v1/storage/c')
    await connection.send(Buffer.concat([list, service.request(`GET ${raw('/v1/storage/c/größe')}`)]))
    expect((await connection.answer()).status).toBe(200)
    expectError(await connection.answer(), 422, nameInvalid)
    connection.end()
    await connection.ended
  })
})

describe('a collection of sync with UTF-8 that is not percent-encoded', () => {
  it('is 422 in the envelope of sync, and a raw parameter is 400', async () => {
    const names = "Names use 1 to 64 letters, digits, '_' or '-'."
    const request = (target: string) => service.request(`GET ${raw(target)}`, { api: 'sync' })
    await service.expectRefused(request('/v1/collections/größe/entries'), 422, error('invalid_request', names))
    await service.expectRefused(request('/v1/collections/c/entries?prefix=é'), 400, notHttp)
  })
})

describe('other raw bytes are 400:', () => {
  it.each(
    titledTexts([
      'GET /v1/storage/c/\xe9',
      'GET /v1/storage/c/\xed\xa0\x80',
      `GET ${raw('/v1/stórage/c/k')}`,
      `GET ${raw('/v1/me/profilé')}`,
      `GET ${raw('/v1/storage/c/k?scope=é')}`,
      `GET ${raw('/v1/quizzes/é/results')}`,
      `POST ${raw('/v1/quizzes/é/results')}`,
      `GET ${raw('/v1/apps/é/webhook')}`,
      `PATCH ${raw('/v1/storage/c/é')}`,
      `GET ${raw('http://apps.test/v1/storage/c/é')}`,
      `GET ${raw('/v1/storage/c/é')} x`,
    ]),
  )('%s', async (_, line) => {
    await service.expectRefused(service.request(line), 400, notHttp)
  })

  it('on the internal port', async () => {
    const bytes = service.request(`GET ${raw('/v1/storage/c/é')}`)
    const answer = await service.answerTo(bytes, 'GET', service.world.internalPort)
    expect(answer.status).toBe(400)
  })
})

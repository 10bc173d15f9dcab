import { beforeAll, describe, expect, it } from 'vitest'
import { started } from '../support/started.ts'
import { detail, error, lines, notHttp, nothingHere, startRawService, titledTexts } from './raw-service.ts'

const service = started(startRawService)
let token: string
beforeAll(async () => {
  token = service.tokens.apps
})

const get = (...fields: string[]) =>
  lines('GET /v1/ HTTP/1.1', 'Host: apps.test', `Authorization: Bearer ${token}`, ...fields)

describe('Host', () => {
  const detailNotHttp = detail(notHttp.error.message)

  it('must be sent exactly once in HTTP/1.1', async () => {
    await service.expectRefused(lines('GET /v1/ HTTP/1.1', `Authorization: Bearer ${token}`), 400, notHttp)
    for (const second of ['apps.test', 'evil.test', '']) {
      await service.expectRefused(get(`Host: ${second}`), 400, detailNotHttp)
      await service.expectRefused(get(`hOsT: ${second}`), 400, detailNotHttp)
    }
    const before = lines('GET /v1/ HTTP/1.1', 'Host: evil.test', 'Host: apps.test', `Authorization: Bearer ${token}`)
    await service.expectRefused(before, 400, notHttp)
  })

  it('may be missing in HTTP/1.0, which gets 404', async () => {
    const old = (...fields: string[]) => lines('GET /v1/ HTTP/1.0', `Authorization: Bearer ${token}`, ...fields)
    const wrong = detail('This API answers at apps.test.')
    await service.expectRefused(old(), 404, wrong)
    await service.expectRefused(old('Host: evil.test'), 404, wrong)
    await service.expectRefused(old('Host: apps.test', 'Host: apps.test'), 400, detailNotHttp)
    expect((await service.answerTo(old('Host: apps.test'))).status).toBe(200)
    const keepAlive = await service.answerTo(old('Host: apps.test', 'Connection: keep-alive'))
    expect(keepAlive).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } })
  })

  it('is taken from an absolute target', async () => {
    const absolute = (target: string, host: string) =>
      lines(`GET ${target} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${token}`)
    const right = await service.answerTo(absolute('http://apps.test/v1/', 'evil.test'))
    expect(right.status).toBe(200)
    await service.expectRefused(
      absolute('http://evil.test/v1/', 'apps.test'),
      404,
      detail('This API answers at apps.test.'),
    )
    const without = lines('GET http://apps.test/v1/ HTTP/1.1', `Authorization: Bearer ${token}`)
    await service.expectRefused(without, 400, detailNotHttp)
  })

  it.each(['APPS.TEST', 'apps.test.', 'apps.test:80', 'apps.test:', 'Apps.Test.:8443'])(
    'may be written as %s',
    async (host) => {
      expect((await service.answerTo(service.request('GET /v1/', { host }))).status).toBe(200)
    },
  )

  it.each(
    titledTexts([
      '',
      'apps.test.evil.test',
      'apps.test:80:80',
      'apps.test..',
      'apps.test:x',
      'apps.test@evil.test',
      '[::1]',
      'apps.test, apps.test',
      `${'a'.repeat(10_240)}`,
    ]),
  )('returns 404 for %s', async (_, host) => {
    await service.expectRefused(service.request('GET /v1/', { host }), 404, detail('This API answers at apps.test.'))
    const lms = { api: 'lms' as const, host, body: '' }
    const refusal = error('not_found', 'This API answers at lms.test.')
    await service.expectRefused(service.request('POST /v1/quizzes/a/results', lms), 404, refusal)
    await service.expectRefused(service.request('GET /v1/openapi.json', { host }), 404, error('not_found', nothingHere))
  })
})

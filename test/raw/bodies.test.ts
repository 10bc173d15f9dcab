import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { started } from '../support/started.ts'
import type { Refusal, Sent } from './raw-service.ts'
import { bodyNotJson, detail, error, nested, nestedObjects, startRawService, titled } from './raw-service.ts'

const service = started(startRawService)
beforeAll(async () => {
  expect(await put('{"value":"stored"}')).toMatchObject({ status: 200 })
})

const target = '/v1/storage/col/k1'
const put = (body: string | Buffer, sent: Sent = {}) =>
  service.answerTo(service.request(`PUT ${target}`, { body, ...sent }))

const missing = detail('value is missing.')
const notAlone = detail('The body has exactly one field, value.')
const notJson = detail(bodyNotJson)
const tooDeep = detail('value is nested too deeply.')

/** Accepted bodies, each with the value as it is returned; test/storage/fidelity.test.ts has every kind of value. */
const stored: [body: string, value: string][] = [
  ['{"value":null}', 'null'],
  [' \t\r\n{ "value" \n:\t 1 } \r\n', '1'],
  ['{"value": { "b" : 1 , "a" : [ 1, 2 ] } }', '{ "b" : 1 , "a" : [ 1, 2 ] }'],
  ['{"\\u0076alue":"escaped key"}', '"escaped key"'],
  ['{"\\u0076\\u0061\\u006c\\u0075\\u0065":1}', '1'],
  ['{"value":"\\u0000\\ud800"}', '"\\u0000\\ud800"'],
  ['\ufeff{"value":"after a byte order mark"}', '"after a byte order mark"'],
  ['{"value":{"value":{"value":1}}}', '{"value":{"value":1}}'],
  [`{"value":${nested(256)}}`, nested(256)],
  [`{"value":${nestedObjects(256)}}`, nestedObjects(256)],
]

const refused: [body: string | Buffer, refusal: Refusal][] = [
  // Without a value.
  ['["value"]', missing],
  ['[{"value":1}]', missing],
  ['{"value ":1}', missing],
  ['{"valu\\u0065x":1}', missing],
  ['{"__proto__":{"value":1}}', missing],
  ['{"a":1,"b":2}', missing],
  [`{"${'k'.repeat(100_000)}":1}`, missing],
  [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, missing],
  // With another field.
  ['{"value":1,"foo":null}', notAlone],
  ['{"value":1,"\\u0076alue":2}', notAlone],
  ['{"value":1,"__proto__":{}}', notAlone],
  ['{"__proto__":{},"value":1}', notAlone],
  [`{"value":1,"${'k'.repeat(100_000)}":1}`, notAlone],
  // Not JSON; test/unit/raw-json-scanner.test.ts has every way.
  [' ', notJson],
  ['\ufeff', notJson],
  ['\ufeff\ufeff{"value":1}', notJson],
  ['{"value":"\0"}', notJson],
  ['{"value":1}\0', notJson],
  // Not UTF-8.
  [Buffer.from('{"value":"\xff"}', 'latin1'), notJson],
  [Buffer.from('{"value":"\xc0\xaf"}', 'latin1'), notJson],
  [Buffer.from('{"value":"\xed\xa0\x80"}', 'latin1'), notJson],
  [Buffer.from('{"value":"\xf4\x90\x80\x80"}', 'latin1'), notJson],
  [Buffer.from('{"value":"\xc3"}', 'latin1'), notJson],
  [Buffer.from('{"value":1}\xff', 'latin1'), notJson],
  [Buffer.from('\ufeff{"value":1}', 'utf16le'), notJson],
  [gzipSync('{"value":1}'), notJson],
  // Too deep.
  [`{"value":${nested(257)}}`, tooDeep],
  [`{"value":${nestedObjects(257)}}`, tooDeep],
  [`{"value":[1,2,${nested(256)},3]}`, tooDeep],
  [`{"value":${nested(100_000)}}`, tooDeep],
  [`{"value":${nestedObjects(100_000)}}`, tooDeep],
  [`{"value":${'['.repeat(100_000)}}`, notJson],
]

describe('PUT', () => {
  it.each(titled(stored))('stores %s and returns it byte for byte', async (_, body, value) => {
    const answer = await put(body)
    expect(answer.status).toBe(200)
    const [, time] = /,"updatedAt":(\d+)}$/.exec(answer.text)!
    const entry = `{"key":"k1","value":${value},"updatedAt":${time}}`
    expect(answer.text).toBe(entry)
    expect((await service.answerTo(service.request(`GET ${target}`))).text).toBe(entry)
    const list = await service.answerTo(service.request('GET /v1/storage/col'))
    expect(list.text).toBe(`{"items":[${entry}],"total":1}`)
  })

  it.each(titled(refused))('refuses %s', async (_, body, refusal) => {
    await service.expectRefused(service.request(`PUT ${target}`, { body }), 400, refusal)
  })

  it('accepts a chunked body', async () => {
    const chunks = ['{"val', 'ue":', '"in chunks"', '}'].map((text) => `${text.length.toString(16)};x=y\r\n${text}\r\n`)
    const headers = ['Transfer-Encoding: chunked']
    const head = service.request(`PUT ${target}`, { headers, body: '' })
    const answer = await service.answerTo(
      Buffer.concat([head, Buffer.from(`${chunks.join('')}0\r\nX-Trailer: 1\r\n\r\n`)]),
    )
    expect(answer.text).toContain('"in chunks"')
  })

  it('refuses an invalid chunked body like any other', async () => {
    const head = service.request(`PUT ${target}`, { headers: ['Transfer-Encoding: chunked'], body: '' })
    await service.expectRefused(Buffer.concat([head, Buffer.from('3\r\n{"v\r\n0\r\n\r\n')]), 400, notJson)
    await service.expectRefused(Buffer.concat([head, Buffer.from('0\r\n\r\n')]), 400, missing)
  })

  it('refuses a request without a body', async () => {
    const sent = service.request(`PUT ${target}`, { headers: ['Content-Type: application/json'] })
    await service.expectRefused(sent, 400, missing)
    await service.expectRefused(service.request(`PUT ${target}`), 415, detail('Send the body as application/json.'))
  })
})

describe('GET and DELETE', () => {
  it('ignore a body', async () => {
    for (const body of ['{"scope":"user"}', 'no JSON', '\xff']) {
      const get = await service.answerTo(service.request(`GET ${target}`, { body }))
      expect(get.status).toBe(200)
      await put('{"value":1}', {})
      const del = await service.answerTo(service.request(`DELETE ${target}`, { body, type: 'text/plain' }))
      expect(del).toMatchObject({ status: 204, text: '' })
      await put('{"value":"stored"}')
    }
  })
})

describe('a body for lms or notify', () => {
  const notObject = error('invalid_request', 'The body is not a JSON object.')
  const answersInvalid = error('invalid_request', 'answers must be an object that maps question ids to answers.')
  const urlInvalid = error(
    'invalid_request',
    'url must be an https:// address of at most 2048 characters, without user info.',
  )
  const broken = error('invalid_request', bodyNotJson)
  const deep = error('invalid_request', 'The body is nested too deeply.')
  const quiz = () => `POST /v1/quizzes/${encodeURIComponent(service.quizId)}/results`
  const webhook = () => `PUT /v1/apps/${service.world.ids.app}/webhook`

  it.each(
    titled([
      ['', broken, broken],
      [' ', broken, broken],
      ['{', broken, broken],
      ['{"answers":"\t"}', broken, broken],
      ['[]', notObject, notObject],
      ['null', notObject, notObject],
      ['"answers"', notObject, notObject],
      ['{}', answersInvalid, urlInvalid],
      ['{"__proto__":{"answers":{},"url":"https://a.b"}}', answersInvalid, urlInvalid],
      [`{"a":${nested(64)}}`, deep, deep],
      [`{"a":${nested(100_000)}}`, deep, deep],
      [`{"a":${nested(63)}}`, answersInvalid, urlInvalid],
    ]),
  )('returns 400 for %s', async (_, body, toQuiz, toWebhook) => {
    await service.expectRefused(service.request(quiz(), { api: 'lms', body }), 400, toQuiz)
    await service.expectRefused(service.request(webhook(), { api: 'notify', body }), 400, toWebhook)
  })

  it('returns 400 when it is not UTF-8', async () => {
    const body = Buffer.from('{"answers":{"q1":"\xff"},"url":"https://a.b/\xff"}', 'latin1')
    await service.expectRefused(service.request(quiz(), { api: 'lms', body }), 400, broken)
    await service.expectRefused(service.request(webhook(), { api: 'notify', body }), 400, broken)
  })
})

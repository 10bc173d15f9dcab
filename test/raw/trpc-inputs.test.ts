import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sent } from './raw-service.ts'
import { bodyNotJson, nested, nestedObjects, titled, titledTexts } from './raw-service.ts'
import { put, startTrpcService } from './trpc-service.ts'

let service: Awaited<ReturnType<typeof startTrpcService>>
beforeAll(async () => {
  service = await startTrpcService()
})
afterAll(() => service.close())

const call: typeof service.call = (...given) => service.call(...given)
const expectRefused: typeof service.expectCallRefused = (...given) => service.expectCallRefused(...given)

describe('the input of a query', () => {
  const line = (input: string) => `GET /trpc/storage.get?${input}`
  const expectInput = (input: string, status: number, message: unknown) =>
    expectRefused(line(input), {}, status, message, 'storage.get')
  const names = "Names use 1 to 64 letters, digits, '_' or '-'."

  it.each(
    titledTexts([
      'input=',
      'input',
      'input={',
      'input={}}',
      'input=%zz',
      'input=%00',
      'input=%ff',
      "input={'a':1}",
      'input=undefined',
      `input=${'['.repeat(5_000)}`,
      'input={&input={}',
      'input={}#',
      'input=%EF%BB%BF{}',
    ]),
  )('returns 400 for %s', (_, input) => expectInput(input, 400, bodyNotJson))

  it.each([
    ['', 'undefined'],
    ['input=null', 'null'],
    ['input=[]', 'array'],
    ['input=1', 'number'],
    ['input="x"', 'string'],
  ])('returns 422 for %j', (input, type) =>
    expectInput(input, 422, `The input: Invalid input: expected object, received ${type}.`),
  )

  it.each(
    titled([
      ['input={}', names],
      ['input={"collection":"c"}', names],
      ['input={"collection":"c","key":1}', names],
      ['input={"collection":"c","key":"\\u0000"}', names],
      ['input={"collection":"%00","key":"k"}'.replace('%00', '\\u0000'), names],
      [`input={"collection":"c","key":"${'k'.repeat(10_240)}"}`, names],
      ['input={"collection":["c"],"key":"k"}', names],
      ['input={"__proto__":{"collection":"c","key":"k"}}', names],
      ['input={"collection":"c","key":"k","scope":"x"}', 'scope is org or user.'],
      ['input={"collection":"c","key":"k","scope":["org"]}', 'scope is org or user.'],
      ['input={"collection":"c","key":"k","scope":null}', 'scope is org or user.'],
      ['input={"collection":"#","key":"k"}', names],
    ]),
  )('returns 422 for %s', (_, input, message) => expectInput(input, 422, message))

  it('may have 258 levels; deeper is 400', async () => {
    await expectInput(`input=${nested(259)}`, 400, 'value is nested too deeply.')
    await expectInput(`input=${nested(5_000)}`, 400, 'value is nested too deeply.')
    await expectInput(`input=${nested(258)}`, 422, 'The input: Invalid input: expected object, received array.')
  })

  it.each(['limit', 'offset'])('returns 422 unless %s is a number', async (key) => {
    const message = { limit: 'limit is 1 to 200.', offset: 'offset is 0 or more.' }[key]
    for (const value of ['"5"', 'null', '[]', '[5]', 'true', '1.5', '-1', '1e400', '9007199254740993', '{}', '""']) {
      const target = `/trpc/storage.list?input={"collection":"c","${key}":${value}}`
      await expectRefused(`GET ${target}`, {}, 422, message, 'storage.list')
    }
  })

  it('ignores unknown parameters', async () => {
    const input = 'input={"collection":"c","key":"k"}'
    for (const more of [
      '__proto__=x',
      'constructor=x',
      'toString=x',
      '%zz=%ff',
      'batch=0',
      'batch',
      'input=x',
      '=',
      '?',
      '#batch=1',
    ]) {
      expect(await call(line(`${input}&${more}`))).toMatchObject({ status: 200 })
    }
  })

  it('returns 400 for invalid connection parameters', async () => {
    for (const text of ['1', '{', '[]', '""', '%00']) {
      await expectRefused(`GET /trpc/root?connectionParams=${text}`, {}, 400, expect.any(String)).catch(
        async (failure) => {
          // Here tRPC reports its own code.
          const { data } = JSON.parse((await call(`GET /trpc/root?connectionParams=${text}`)).text).error
          if (data.code !== 'PARSE_ERROR' || data.httpStatus !== 400) throw failure
        },
      )
    }
  })
})

describe('the input of a mutation', () => {
  const expectInput = (body: string | Buffer, status: number, message: unknown, sent: Sent = {}) =>
    expectRefused('POST /trpc/storage.put', { body, ...sent }, status, message, 'storage.put')

  it.each(
    titledTexts([
      ' ',
      '{',
      '{}}',
      '{"a":1,}',
      '{"a":"\t"}',
      '\0',
      'collection=c',
      '['.repeat(100_000),
      put('NaN'),
      put('01'),
    ]),
  )('returns 400 for %s', (_, body) => expectInput(body, 400, bodyNotJson))

  it('returns 400 when it is not UTF-8', () => expectInput(Buffer.from(put('"\xff"'), 'latin1'), 400, bodyNotJson))

  it.each(['', '[]', 'null', '1', '"x"', 'true'])('returns 400 for %j', (body) =>
    expectInput(body, 400, expect.stringMatching(/^The input: Invalid input: expected object/)),
  )

  it.each(
    titled([
      ['{}', 422, "Names use 1 to 64 letters, digits, '_' or '-'."],
      ['{"json":{"collection":"c","key":"k","value":1}}', 422, "Names use 1 to 64 letters, digits, '_' or '-'."],
      ['{"collection":"\\u0000","key":"k","value":1}', 422, "Names use 1 to 64 letters, digits, '_' or '-'."],
      ['{"__proto__":{"collection":"c","key":"k","value":1}}', 422, "Names use 1 to 64 letters, digits, '_' or '-'."],
      [put('1', ',"scope":"x"'), 422, 'scope is org or user.'],
      ['{"collection":"c","key":"k"}', 400, 'value is missing.'],
      ['{"collection":"c","key":"k","Value":1}', 400, 'value is missing.'],
      [put(nested(257)), 400, 'value is nested too deeply.'],
      [put(nestedObjects(257)), 400, 'value is nested too deeply.'],
      [put(nested(100_000)), 400, 'value is nested too deeply.'],
      [nested(100_000), 400, 'value is nested too deeply.'],
      [put('1', ',"ifMatch":1'), 400, 'ifMatch: Invalid input: expected string, received number.'],
      [put('1', ',"ifMatch":"\\u0000"'), 412, 'This entry has changed.'],
      [put('1', ',"ifMatch":"\\"\\u0000\\""'), 412, 'This entry has changed.'],
      [put('1', ',"ifMatch":"\\"\\ud800\\""'), 412, 'This entry has changed.'],
      [put('1', `,"ifMatch":"${'\\"x\\",'.repeat(20_000)}"`), 412, 'This entry has changed.'],
    ] as const),
  )('is refused: %s', (_, body, status, message) => expectInput(body, status, message))

  it('returns 413 when it is larger than the quota and 64 KiB', async () => {
    const body = put(`"${'x'.repeat(12_000_000)}"`)
    await expectInput(body, 413, 'App storage quota exceeded.')
    await expectInput(body, 401, 'This token is not valid.', { token: 'x' })
  })

  it.each([
    null,
    '',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'application/x-www-form-urlencoded',
    'application/jsonx',
  ])('returns 415 for the type %j', (type) =>
    expectInput(put('1'), 415, 'Send the body as application/json.', { type }),
  )

  it.each(
    titledTexts([
      'null',
      '[]',
      '"\\u0000\\ud800"',
      '1e400',
      '[{"a":-1e999}]',
      '{"__proto__":{"a":1},"constructor":1}',
      nested(256),
      nestedObjects(256),
    ]),
  )('may be %s', async (_, value) => {
    const answer = await call('POST /trpc/storage.put', { body: put(value) })
    expect(answer.status).toBe(200)
    expect(answer.text).toContain(value)
    const got = await call('GET /trpc/storage.get?input={"collection":"c","key":"k"}')
    expect(JSON.parse(got.text).result.data.value).toEqual(JSON.parse(value))
  })

  it('for lms and notify is checked as over REST', async () => {
    const submit = (input: object) => ({ token: service.tokens.lms, body: JSON.stringify(input) })
    const { quizId } = service
    const noQuiz = 'This quiz does not exist in this academy.'
    for (const odd of ['\0', 'x'.repeat(10_240), '', '\ud800']) {
      await expectRefused(
        'POST /trpc/quizzes.submit',
        submit({ quizId: odd, answers: {} }),
        404,
        noQuiz,
        'quizzes.submit',
      )
    }
    const key = 'Idempotency-Key must be 1 to 255 visible ASCII characters.'
    for (const idempotencyKey of [1, null, '', 'a b', '\0', 'x'.repeat(256)]) {
      await expectRefused(
        'POST /trpc/quizzes.submit',
        submit({ quizId, answers: {}, idempotencyKey }),
        400,
        key,
        'quizzes.submit',
      )
    }
    const set = { token: service.tokens.notify, body: '{"id":"\\u0000","url":"https://a.b"}' }
    await expectRefused(
      'POST /trpc/webhook.put',
      set,
      400,
      "id must be 1 to 64 letters, digits, '_' or '-'.",
      'webhook.put',
    )
  })
})

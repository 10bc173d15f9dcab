import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sent } from './raw-service.ts'
import { nested, nestedObjects, titled } from './raw-service.ts'
import { put, startTrpcService } from './trpc-service.ts'

let service: Awaited<ReturnType<typeof startTrpcService>>
beforeAll(async () => {
  service = await startTrpcService()
})
afterAll(() => service.close())

const expectRefused: typeof service.expectCallRefused = (...given) => service.expectCallRefused(...given)

describe('the input of a query', () => {
  const line = (input: string) => `GET /trpc/storage.get?${input}`
  const expectInput = (input: string, status: number, message: unknown) =>
    expectRefused(line(input), {}, status, message, 'storage.get')
  const names = "Names use 1 to 64 letters, digits, '_' or '-'."

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
      ['input={"collection":"c"}', names],
      ['input={"collection":"c","key":1}', names],
      ['input={"collection":"c","key":"\\u0000"}', names],
      ['input={"collection":["c"],"key":"k"}', names],
      ['input={"collection":"c","key":"k","scope":["org"]}', 'scope is org or user.'],
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
})

describe('the input of a mutation', () => {
  const expectInput = (body: string | Buffer, status: number, message: unknown, sent: Sent = {}) =>
    expectRefused('POST /trpc/storage.put', { body, ...sent }, status, message, 'storage.put')

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
})

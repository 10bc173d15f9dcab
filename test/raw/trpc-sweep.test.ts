import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { appRouter } from '../../routers/index.ts'
import { times } from '../support/rounds.ts'
import { started } from '../support/started.ts'
import { body, headers, method, search, segment, type } from './arbitraries.ts'
import { startRawService } from './raw-service.ts'
import { Connection } from './socket.ts'

const service = started(startRawService)
beforeAll(async () => {
  await service.world.db.client.update({ where: { id: service.world.ids.client }, data: { environment: 'sandbox' } })
})

const procedures = Object.keys(appRouter._def.procedures)
const names = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...procedures) }, { weight: 1, arbitrary: segment })
const path = fc.array(names, { minLength: 1, maxLength: 12 }).map((list) => list.join(','))
const one = fc.oneof({ weight: 3, arbitrary: names }, { weight: 1, arbitrary: path })
const input = body.map((bytes) => `input=${encodeURIComponent(bytes.toString('utf8'))}`)
const query = fc
  .tuple(fc.boolean(), fc.option(input), search)
  .map(
    ([batch, given, more]) => `?${[...(batch ? ['batch=1'] : []), ...(given ? [given] : []), more.slice(1)].join('&')}`,
  )

/** Objects with inputs for the first calls of a batch, often fitting ones. */
const fitting = fc
  .array(fc.oneof(body.map(String), fc.constantFrom('{"collection":"c","key":"k","value":1}', '{"id":"a"}', '{}')), {
    maxLength: 4,
  })
  .map((inputs) => Buffer.from(`{${inputs.map((text, i) => `"${i}":${text}`).join(',')}}`))

const success = { result: expect.anything() }
const failure = {
  error: {
    message: expect.any(String),
    code: expect.any(Number),
    data: expect.objectContaining({
      code: expect.stringMatching(/^[A-Z_]+$/),
      httpStatus: expect.any(Number),
      error: expect.stringMatching(/^[a-z_]+$/),
    }),
  },
}
const statuses = [200, 207, 400, 401, 403, 404, 405, 409, 412, 413, 415, 422]

it('an arbitrary request to tRPC gets a tRPC answer and never a 500', async () => {
  let connection = await Connection.open(service.world.internalPort)
  const token = fc.constantFrom<'apps' | 'lms' | 'notify'>('apps', 'apps', 'lms', 'notify')
  const content = fc.option(fc.oneof(body, fitting))
  await fc.assert(
    fc.asyncProperty(
      method,
      one,
      query,
      token,
      headers,
      type,
      content,
      async (methodSent, name, search, api, fields, typeSent, bytes) => {
        const sent = { host: 'localhost', token: service.tokens[api], headers: fields, type: typeSent }
        await connection.send(
          service.request(`${methodSent} /trpc/${name}${search}`, { ...sent, ...(bytes && { body: bytes }) }),
        )
        const answer = await connection.answer(methodSent)
        if (answer.headers.connection === 'close') {
          connection.end()
          await connection.ended
          connection = await Connection.open(service.world.internalPort)
        }
        expect(statuses).toContain(answer.status)
        expect(answer.headers['x-request-id']).toBeDefined()
        expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
        if (methodSent === 'HEAD' || fields.some((field) => field.includes('jsonl'))) return
        const given = JSON.parse(answer.text)
        // Invalid HTTP and unknown methods do not reach tRPC.
        if (given.error?.request_id) return void expect([400, 405]).toContain(answer.status)
        const answers = Array.isArray(given) ? given : [given]
        for (const each of answers) expect(each).toEqual('error' in each ? failure : success)
        const own = new Set(answers.map((each) => each.error?.data.httpStatus ?? 200))
        expect(answer.status).toBe(own.size === 1 ? [...own][0] : 207)
      },
    ),
    { numRuns: times(1_200, 120) },
  )
  connection.end()
})

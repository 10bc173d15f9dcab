import { once } from 'node:events'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { expect, it, onTestFinished } from 'vitest'
import { Deadline } from '../../routers/kernel/deadline.ts'
import { createKoa } from '../../server/http/app.ts'
import { listen } from '../../server/http/listen.ts'
import { respond } from '../../server/http/respond.ts'
import type { Step } from '../../server/http/state.ts'
import { httpMetrics } from '../../server/telemetry/http-metrics.ts'
import { Connection } from '../raw/socket.ts'

const never = new Promise<never>(() => {})

/** Answers 503 at a deadline that is over at once, after what `before` waits for. */
async function answersLate(before: (...args: Parameters<Step>) => Promise<unknown>) {
  const log = pino({ level: 'silent' })
  const app = createKoa(log, undefined)
    .use(respond(log, Date.now, httpMetrics(new Registry()), () => ''))
    .use(async (ctx, next) => {
      await before(ctx, next)
      await new Deadline(0).bound(never)
    })
  const listener = await listen(app, 0)
  onTestFinished(() => listener.close(0))
  const connection = await Connection.open(listener.port)
  await connection.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n')
  await connection.send(Buffer.alloc(50_000))
  const { status, headers } = await connection.answer()
  return { connection, status, closes: headers.connection === 'close' }
}

it('the connection of a body that was being read at the deadline ends with the response', async () => {
  const { connection, ...answer } = await answersLate((ctx) => once(ctx.req, 'data'))
  expect(answer).toEqual({ status: 503, closes: true })
  expect(await connection.ended).toBe('end')
})

it('a client whose body nobody has read at the deadline may go on, so that it sees the response', async () => {
  const { connection, ...answer } = await answersLate(async () => {})
  expect(answer).toEqual({ status: 503, closes: false })
  await connection.send(Buffer.alloc(50_000))
  await connection.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  expect((await connection.answer()).status).toBe(503)
})

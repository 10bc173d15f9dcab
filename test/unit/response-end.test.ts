import { once } from 'node:events'
import { get } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import Koa from 'koa'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { expect, it, onTestFinished } from 'vitest'
import { Deadline } from '../../routers/kernel/deadline.ts'
import { createKoa } from '../../server/http/app.ts'
import { listen } from '../../server/http/listen.ts'
import { respond } from '../../server/http/respond.ts'
import { send } from '../../server/http/send.ts'
import type { State, Step } from '../../server/http/state.ts'
import { httpMetrics } from '../../server/telemetry/http-metrics.ts'
import { Connection } from '../raw/socket.ts'

it.each([1, 20])(
  'large bodies of %i responses are written whole, together half a megabyte in a turn of the event loop',
  async (responses) => {
    const body = Buffer.alloc(20_000_000 / responses, 'x')
    const sockets: Socket[] = []
    let mostAtOnce = 0
    const app = new Koa<State>().use((ctx) => {
      sockets.push(ctx.res.socket!)
      ctx.state.headers = []
      send(ctx, { status: 200, body })
    })
    const server = app.listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    let isDone = false
    let before = 0
    const look = () => {
      const written = sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0)
      mostAtOnce = Math.max(mostAtOnce, written - before)
      before = written
      if (!isDone) setImmediate(look)
    }
    look()
    const { port } = server.address() as AddressInfo
    const read = async () => {
      const [response] = await once(get({ port, host: '127.0.0.1', agent: false }), 'response')
      return buffer(response)
    }
    const bodies = await Promise.all(Array.from({ length: responses }, read))
    isDone = true
    expect(bodies.every((found) => found.equals(body))).toBe(true)
    // With the heads, and one slice that the system's buffer did not take before.
    expect(mostAtOnce).toBeLessThan(700_000)
  },
)

const never = new Promise<never>(() => {})

/** Answers 503 at a deadline that is over at once, after what `before` waits for. */
async function answersLate(before: (...args: Parameters<Step>) => Promise<unknown>) {
  const log = pino({ level: 'silent' })
  const app = createKoa(log, undefined)
    .use(
      respond(
        log,
        Date.now,
        httpMetrics(new Registry()),
        () => '',
        () => '',
      ),
    )
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

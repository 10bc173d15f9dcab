import { once } from 'node:events'
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { expect, it, onTestFinished } from 'vitest'
import { send } from '../../server/http/send.ts'
import type { State } from '../../server/http/state.ts'

it('a large body is written whole, half a megabyte in a turn of the event loop', async () => {
  const body = Buffer.alloc(20_000_000, 'x')
  let mostAtOnce = 0
  const app = new Koa<State>().use((ctx) => {
    const socket = ctx.res.socket!
    let written = 0
    const look = () => {
      mostAtOnce = Math.max(mostAtOnce, socket.bytesWritten - written)
      written = socket.bytesWritten
      if (!ctx.res.closed) setImmediate(look)
    }
    look()
    ctx.state.headers = []
    send(ctx, { status: 200, body })
  })
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false })
  const [response] = await once(request, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  expect(Buffer.concat(chunks).equals(body)).toBe(true)
  // With the head, and one slice that the system had no room for before.
  expect(mostAtOnce).toBeLessThan(700_000)
})

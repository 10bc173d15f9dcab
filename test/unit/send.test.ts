import { once } from 'node:events'
import { get } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import Koa from 'koa'
import { expect, it, onTestFinished } from 'vitest'
import { send } from '../../server/http/send.ts'
import type { State } from '../../server/http/state.ts'

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
    // With the heads, and one slice that the system had no room for before.
    expect(mostAtOnce).toBeLessThan(700_000)
  },
)

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { expect, it, onTestFinished } from 'vitest'
import type { State } from '../../server/http/state.ts'
import { memoryLimits } from '../../server/limits/memory.ts'
import { tokenLimit } from '../../server/oauth/endpoints/token-limit.ts'

/** Makes requests of one address for tokens, where one refresh token exists; resolves to their status. */
async function startEndpoint(failures: number) {
  const find = (model: string) => async (id: string) => (model === 'RefreshToken' && id === 'good' ? {} : undefined)
  const limits = memoryLimits(() => 0)
  const limit = tokenLimit({ storage: (model) => ({ find: find(model) }) as never, now: () => 0, failures, limits })
  let status = 200
  const app = new Koa<State>().use((ctx) => {
    ctx.state.clientAddress = '192.0.2.1'
    return limit(ctx, async () => {
      ctx.status = status
    })
  })
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return async (answer: number, fields: Record<string, string> = {}) => {
    status = answer
    const body = new URLSearchParams(fields)
    return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })).status
  }
}

it('a request that the service fails does not count against its address', async () => {
  const ask = await startEndpoint(2)
  for (const status of [500, 503, 503, 200, 200]) expect(await ask(status)).toBe(status)
  for (const status of [400, 401]) expect(await ask(status)).toBe(status)
  expect(await ask(400)).toBe(429)
})

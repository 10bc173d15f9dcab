import { expect, it } from 'vitest'
import { parseSamples } from '../metrics/samples.ts'
import { annaIn, dataDirectoryWithDemo, issueToken, send, start } from './service.ts'

const HOURS_S = 7_200

/** Loaded before the service: its machine's clock is ahead. */
const ahead = `const { now } = Date; Date.now = () => now() + ${HOURS_S * 1_000}`

it('a node whose clock is two hours ahead publishes what is due now, and says so in its log and its metrics', async () => {
  const DATA_DIR = await dataDirectoryWithDemo()
  const service = await start({
    DATA_DIR,
    WEBHOOK_WORKER: 'false',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(ahead)}`,
  })
  const scope = 'ntf.subscriptions:write ntf.events:write'
  const [app, platform] = await Promise.all([
    issueToken({ DATA_DIR }, ...annaIn('provider')),
    issueToken({ DATA_DIR }, '--club', 'provider', '--client', 'platform', '--scope', scope),
  ])
  const headers = { host: 'notify.localhost', authorization: `Bearer ${app}` }
  const body = { url: 'https://receiver.example/hook' }
  const path = '/v1/apps/trainer-app/webhook'
  expect(await send(service.port, 'PUT', path, { headers, body })).toMatchObject({ status: 200 })
  const call = async (method: 'GET' | 'POST', path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${platform}` }
    const reply = await send(service.internalPort, method, `/trpc/${path}`, { headers, body })
    expect(reply).toMatchObject({ status: 200 })
    return reply.body.result.data
  }
  await call('POST', 'subscriptions.create', { app: 'trainer-app', subscriber: 'riverside' })
  await call('POST', 'events.publish', { app: 'trainer-app', type: 'training.moved', id: 'e1', data: {} })
  const { items } = await call('GET', `deliveries.list?input=${encodeURIComponent('{"event":"e1"}')}`)
  expect(items).toHaveLength(1)
  expect(items[0].nextAttemptAt).toBeLessThanOrEqual(Date.now() / 1_000)

  const samples = parseSamples((await send(service.internalPort, 'GET', '/metrics')).text)
  expect(Math.round(samples.get('clock_ahead_seconds')!)).toBe(HOURS_S)
  expect((await service.stop()).stdout).toContain(
    "s ahead of the database's, by which the service goes: synchronise both (NTP)",
  )
})

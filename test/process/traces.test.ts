import { expect, it } from 'vitest'
import { startCollector } from '../metrics/collector.ts'
import { annaIn, asAnna, command, externalSettings, issueToken, readLog, send, start } from './service.ts'
import { secret, startExample } from './webhooks/example-receiver.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'

/** Whatever is not for spans has this in it. */
const CANARY = 'canary4711'

it('a service with a collector exports requests, statements and attempts, names the trace in the log, and nothing secret', async () => {
  const [receiver, collector] = [await startExample(), await startCollector()]
  const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64')
  const env = {
    ...(await externalSettings()),
    SECRETS_KEY,
    WEBHOOK_ALLOW: '127.0.0.1',
    NODE_EXTRA_CA_CERTS: receiver.certificate,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
  }
  await command('seed', [], env).ended
  const service = await start(env)
  const scope = 'ntf.subscriptions:write ntf.events:write'
  const [provider, platform] = await Promise.all([
    issueToken(env, ...annaIn('provider')),
    issueToken(env, '--club', 'provider', '--client', 'platform', '--scope', scope),
  ])
  const traceparent = `00-${TRACE}-b7ad6b7169203331-01`
  const own = { 'x-request-id': CANARY, traceparent }
  const headers = { ...own, host: 'notify.localhost', authorization: `Bearer ${provider}` }
  const body = { url: `${receiver.url}?${CANARY}`, secret }
  expect(await send(service.port, 'PUT', '/v1/apps/trainer-app/webhook', { headers, body })).toMatchObject({
    status: 200,
  })
  const publish = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${platform}`, ...own }
    expect(await send(service.internalPort, 'POST', `/trpc/${path}`, { headers, body })).toMatchObject({
      status: 200,
    })
  }
  await asAnna(service, 'PUT', `/storage/${CANARY}/${CANARY}`, { value: CANARY })
  await asAnna(service, 'GET', `/me/profile?${CANARY}`)
  await asAnna(service, 'GET', '/me/profile', undefined, `${CANARY}.${CANARY}.${CANARY}`)
  await publish('subscriptions.create', { app: 'trainer-app', subscriber: 'riverside' })
  await publish('events.publish', { app: 'trainer-app', type: 'x', id: CANARY, data: { word: CANARY } })
  await expect.poll(receiver.events).toHaveLength(1)
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })

  const spans = collector.spans()
  const of = (name: string) => spans.find((span) => span.name === name)!
  expect(of('webhook.put')).toMatchObject({ kind: 'server', traceId: TRACE, parent: 'b7ad6b7169203331' })
  expect(spans.filter(({ parent }) => parent === of('storage.put').spanId).map(({ name }) => name)).toContain(
    'storage_write',
  )
  // Publishing wakes the worker, whose loop is no part of the request.
  const ofPublish = spans.filter(({ parent }) => parent === of('events.publish').spanId).map(({ name }) => name)
  expect(ofPublish.length).toBeGreaterThan(0)
  expect(ofPublish.filter((name) => name.startsWith('deliveries_'))).toEqual([])
  expect(of('webhook.attempt')).toMatchObject({ parent: undefined, failed: false })
  expect(collector.resources()[0]).toMatchObject({ 'service.name': 'member-apps-api' })

  const lines = readLog(service.stdout())
  const traced = Object.fromEntries(
    lines.map(({ path, delivery, trace_id }) => [path ?? (delivery && 'attempt'), trace_id]),
  )
  expect(traced['/v1/apps/{id}/webhook']).toBe(TRACE)
  expect(traced.attempt).toBe(of('webhook.attempt').traceId)
  const [published, attempted] = [lines.find(({ msg }) => msg === 'published'), lines.find(({ delivery }) => delivery)]
  expect(published).toMatchObject({ app: 'trainer-app', event: CANARY, count: 1, deliveries: [attempted.delivery] })
  expect(attempted).toMatchObject({ event: CANARY, status: 204, attempt: 1 })

  const tokens = [provider, platform].map((text) => text.split('.')[2]!)
  const ids = ['anna', 'trainer-app', 'riverside']
  for (const hidden of [CANARY, secret, SECRETS_KEY, receiver.url, ...tokens, ...ids]) {
    expect(collector.text()).not.toContain(hidden)
  }
})

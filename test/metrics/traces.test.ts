import pino from 'pino'
import { Registry } from 'prom-client'
import { afterEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { int, statement } from '../../prisma/pg/statement.ts'
import { databaseMetrics } from '../../server/telemetry/database-metrics.ts'
import { activeSpan, outsideOfSpan, traceOfLine } from '../../server/telemetry/trace-context.ts'
import { openTracing } from '../../server/telemetry/tracing.ts'
import { deferred } from '../support/deferred.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { startWorld } from '../support/world.ts'
import { answering, receiver, startWorkers } from '../webhooks/worker-world.ts'
import { startCollector } from './collector.ts'
import { holdConnections } from './held-connections.ts'
import { parseSamples } from './samples.ts'

// Once used, it makes each promise of the process slower, which another file measures (oauth/request-storage).
afterEach(() => activeSpan.disable())

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const TESTED = { operation: 'test', status: 200 }

const failing = statement('suite_traces_failing', 'SELECT 1 / $divisor::int4 AS one', { divisor: int }, { one: int })

/** Spans of this process; the packages read their settings from the environment when they are opened. */
async function tracedTo(env: Record<string, string> = {}) {
  const collector = await startCollector()
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env }
  Object.assign(process.env, all)
  const lines: string[] = []
  const log = pino({}, { write: (line) => void lines.push(line) })
  const tracing = openTracing({ serviceName: 'member-apps-test', version: '1.2.3', log })
  for (const name of Object.keys(all)) delete process.env[name]
  let closed: Promise<void> | undefined
  const close = () => (closed ??= tracing.close())
  onTestFinished(close)
  return { collector, tracing, close, lines }
}

/** A service whose requests and statements have spans, on connections of its own. */
async function tracedWorld(env?: Record<string, string>) {
  const traced = await tracedTo(env)
  const registry = new Registry()
  const observer = { ...databaseMetrics(registry), began: traced.tracing.statement }
  const db = openTestDatabase(inject('databaseUrl'), { observer: observer })
  const world = await startWorld({ tracing: traced.tracing, db, auth: {} })
  onTestFinished(async () => {
    await world.close()
    await db.$disconnect()
  })
  return { ...traced, ...world, db, registry, close: traced.close }
}

describe('the spans of a request', () => {
  it('name its operation and each of its statements, and nothing that the client sent', async () => {
    const { call, collector, close, ids, tracing, db } = await tracedWorld()
    await call('PUT', '/storage/notes/entry', { body: { value: 'canary' }, headers: { 'x-request-id': 'canary' } })
    await call('GET', '/apps/canary/webhook?canary=canary', {
      headers: { 'user-agent': 'canary', tracestate: 'canary=canary' },
    })
    // Prisma's statements have no names.
    const find = async () => void (await db.app.findUnique({ where: { id: 'canary' } }))
    const summary = { operation: 'by-prisma', status: 200 }
    await tracing.request({ method: 'GET', traceparent: undefined }, find, () => summary)
    await close()
    const spans = collector.spans()
    const put = spans.find(({ name }) => name === 'storage.put')!
    expect(put).toMatchObject({ kind: 'server', parent: undefined, failed: false })
    expect(put.attributes).toEqual({
      'http.request.method': 'PUT',
      'http.route': '/v1/storage/{collection}/{key}',
      'http.response.status_code': 200,
    })
    const statements = spans.filter(({ traceId, parent }) => traceId === put.traceId && parent === put.spanId)
    expect(statements.map(({ name }) => name)).toContain('storage_write')
    for (const { name, kind, attributes } of statements) {
      expect([kind, attributes]).toEqual(['client', { 'db.system.name': 'postgresql', 'db.query.summary': name }])
    }
    const webhook = spans.find(({ name }) => name === 'webhook.get')!
    const within = ({ spanId }: { spanId: string }) =>
      spans.filter(({ parent }) => parent === spanId).map(({ name }) => name)
    expect(within(webhook)).toContain('webhook_read')
    expect(within(spans.find(({ name }) => name === 'by-prisma')!)).toEqual(['SELECT App'])
    expect(webhook.traceId).not.toBe(put.traceId)
    for (const word of ['canary', ...Object.values(ids)]) expect(collector.text()).not.toContain(word)
  })

  it('continue the trace of a valid traceparent, over REST and tRPC, and begin their own otherwise', async () => {
    const { call, internal, token, collector, close } = await tracedWorld()
    const traceparent = `00-${TRACE}-${PARENT}-01`
    await call('GET', '/me/profile', { headers: { traceparent } })
    await internal('GET', '/trpc/me.groups', { headers: { traceparent, authorization: `Bearer ${await token()}` } })
    const unknown = [`00-${'0'.repeat(32)}-${PARENT}-01`, `ff-${TRACE}-${PARENT}-01`]
    for (const invalid of ['', 'x', `${traceparent}-x`, ...unknown]) {
      await call('GET', '/', { headers: { traceparent: invalid } })
    }
    await close()
    const servers = collector.spans().filter(({ kind }) => kind === 'server')
    const continued = servers.filter(({ traceId }) => traceId === TRACE)
    expect(continued.map(({ name, parent }) => [name, parent])).toEqual([
      ['me.profile', PARENT],
      ['me.groups', PARENT],
    ])
    const own = servers.filter(({ name }) => name === 'root')
    expect(own.map(({ parent }) => parent)).toEqual(new Array(5).fill(undefined))
    expect(new Set(own.map(({ traceId }) => traceId)).size).toBe(5)
  })

  it('belong each to their request, with requests at once that wait for connections', async () => {
    const { call, collector, close, db, registry } = await tracedWorld()
    await call('PUT', '/storage/notes/entry', { body: { value: 1 } })
    const release = await holdConnections(db)
    const reads = Array.from({ length: 40 }, (_, n) => {
      const traceparent = `00-${String(n + 1).padStart(32, '0')}-${PARENT}-01`
      return call('GET', '/storage/notes/entry', { headers: { traceparent } })
    })
    const waiting = async () => parseSamples(await registry.metrics()).get('database_pool_waiting')
    // The request log may wait as well.
    await expect.poll(waiting, { interval: 5 }).toBeGreaterThanOrEqual(reads.length)
    await release()
    await Promise.all(reads)
    await close()
    const spans = collector.spans()
    for (let n = 0; n < reads.length; n++) {
      const ofOne = spans.filter(({ traceId }) => traceId === String(n + 1).padStart(32, '0'))
      expect(ofOne.filter(({ name }) => name === 'storage_get')).toHaveLength(1)
      expect(ofOne.filter(({ name }) => name === 'connection').length).toBeGreaterThan(0)
      const server = ofOne.find(({ kind }) => kind === 'server')!
      for (const { kind, parent } of ofOne) if (kind === 'client') expect(parent).toBe(server.spanId)
    }
  })

  it('are sampled as OTEL_TRACES_SAMPLER says, and follow the decision of the caller', async () => {
    const env = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }
    const { call, collector, close } = await tracedWorld(env)
    await call('GET', '/me/profile')
    await call('GET', '/me/profile', { headers: { traceparent: `00-${TRACE}-${PARENT}-00` } })
    await call('GET', '/me/groups', { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } })
    await close()
    expect(collector.spans().filter(({ kind }) => kind === 'server')).toMatchObject([{ name: 'me.groups' }])
  })

  it('fail with a 5xx and with an error of the database, of which they have the code', async () => {
    const { tracing, collector, close, db } = await tracedWorld()
    const request = (status: number, work: () => Promise<void>) =>
      tracing.request({ method: 'CANARY', traceparent: undefined }, work, () => ({ operation: 'test', status }))
    await request(503, async () => {
      await db.execute(failing, { divisor: 0 }).catch(() => {})
      await db.$queryRaw`SELECT 1 / 0`.catch(() => {})
      await db.inTransaction((client) => client.query('SELECT 1 / 0')).catch(() => {})
    })
    await request(404, async () => {})
    await close()
    const spans = collector.spans()
    expect(spans.filter(({ name }) => name === 'test').map(({ failed }) => failed)).toEqual([true, false])
    const failed = spans.filter(({ kind, failed }) => kind === 'client' && failed)
    expect(failed.map(({ attributes }) => attributes['error.type'])).toEqual(['22012', '22012', '22012'])
    expect(failed.map(({ name }) => name)).toEqual(['suite_traces_failing', 'SELECT', 'SELECT'])
    expect(collector.text()).not.toContain('CANARY')
  })
})

describe('an attempt to deliver', () => {
  it('has a span of its own, and sends its traceparent', async () => {
    const { tracing, collector, close } = await tracedTo()
    const to = await receiver(answering([500, 204]))
    const { subscribe, publish, advance, lines } = await startWorkers({ tracing, retryDelays: [0] })
    await publish(await subscribe(to.url('/canary'), 'canary'))
    advance(0)
    await expect.poll(() => to.received.length).toBe(2)
    await expect.poll(() => lines().filter(({ attempt }) => attempt)).toHaveLength(2)
    await close()
    const spans = collector.spans()
    expect(spans).toMatchObject([
      { name: 'webhook.attempt', kind: 'client', failed: true, attributes: { 'error.type': 'status 500' } },
      { name: 'webhook.attempt', kind: 'client', failed: false },
    ])
    expect(spans[1]!.attributes).toEqual({
      'http.request.method': 'POST',
      'http.request.resend_count': 1,
      'http.response.status_code': 204,
    })
    const sent = spans.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)
    expect(to.received.map(({ headers }) => headers.traceparent)).toEqual(sent)
    expect(collector.text()).not.toContain('canary')
    // Not the digits alone: ids and times have them by chance.
    expect(collector.text()).not.toMatch(new RegExp(`(?<![\\da-f])${to.port}(?![\\da-f])`))
  })

  it('sends no traceparent without spans', async () => {
    const to = await receiver()
    const { subscribe, publish, wake } = await startWorkers()
    await publish(await subscribe(to.url()))
    wake()
    await expect.poll(() => to.received.length).toBe(1)
    expect(to.received[0]!.headers).not.toHaveProperty('traceparent')
  })
})

describe('the exporter', () => {
  it('says what runs, with the name that OTEL_SERVICE_NAME gives it', async () => {
    const names = async (env: Record<string, string>) => {
      const { tracing, collector, close } = await tracedTo(env)
      const nothing = async () => {}
      await tracing.request({ method: 'GET', traceparent: undefined }, nothing, () => TESTED)
      await close()
      return { ...collector.resources()[0], authorization: collector.headers[0]!.authorization }
    }
    expect(await names({})).toMatchObject({
      'service.name': 'member-apps-test',
      'service.version': '1.2.3',
      'service.instance.id': expect.stringMatching(/^[\da-f-]{36}$/),
    })
    const env = { OTEL_SERVICE_NAME: 'club', OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging' }
    expect(await names({ ...env, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20key' })).toMatchObject({
      'service.name': 'club',
      'deployment.environment.name': 'staging',
      authorization: 'Bearer key',
    })
  })

  it('disturbs no request while the collector is away, warns once, and closes in time', async () => {
    const { call, close, lines } = await tracedWorld({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_EXPORTER_OTLP_TIMEOUT: '300',
    })
    for (let n = 0; n < 3; n++) expect(await call('GET', '/me/profile')).toMatchObject({ status: 200 })
    await expect.poll(() => lines).toHaveLength(1)
    await call('GET', '/me/profile')
    await close()
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, msg: expect.stringMatching(/^spans are lost/) },
    ])
  })
})

it('a line of the log has the trace of the span in which it is written, as long as that is open', async () => {
  const { tracing } = await tracedTo()
  const seen: object[] = []
  const ended = deferred()
  let later = ended.promise
  await tracing.request(
    { method: 'GET', traceparent: `00-${TRACE}-${PARENT}-01` },
    async () => {
      seen.push(traceOfLine(), outsideOfSpan(traceOfLine))
      later = ended.promise.then(() => void seen.push(traceOfLine()))
    },
    () => TESTED,
  )
  ended.resolve()
  await later
  expect(seen).toEqual([{ trace_id: TRACE }, {}, {}])
  expect(traceOfLine()).toEqual({})
})

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createCipher } from '../../server/secrets/cipher.ts'
import { listNames, parseSamples } from '../metrics/samples.ts'
import { endAfterAll } from '../support/after-all.ts'
import { alertRules } from '../support/alert-rules.ts'
import type { AtEnd } from '../support/databases.ts'
import { migratedDatabase } from '../support/databases.ts'
import { FaultProxy } from '../support/fault-proxy.ts'
import { table } from '../support/markdown-table.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { publisher } from '../webhooks/queue-world.ts'
import { dataDirectory, freePort, launchWorker, send, start, until } from './service.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')

const alerts = alertRules()
const dashboard: { panels: { targets: { expr: string }[] }[] } = JSON.parse(read('deploy/grafana/dashboard.json'))
const shown = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
const watching = read('docs/monitoring.md') + read('docs/troubleshooting.md')
const findTable = (header: string) => watching.slice(watching.indexOf(`| ${header} |`)).split('\n\n')[0]!
const documented = table<'Metric'>(findTable('Metric')).map(({ Metric }) => Metric)

/** The metrics of an expression: its names, without functions, labels, durations and `by (…)`. */
function parseMetrics(expression: string): string[] {
  const bare = expression
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, '')
    .replace(/\bby \([^)]*\)/g, '')
  const names = bare.match(/\b[a-z_]+\b(?!\s*\()/g) ?? []
  return [...new Set(names.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')))]
}

/** The database of a service and a worker, behind a proxy that can fail. */
async function settings(atEnd: AtEnd = onTestFinished) {
  const proxy = await FaultProxy.to(await migratedDatabase(atEnd))
  atEnd(async () => proxy.close())
  const SECRETS_KEY = Buffer.alloc(32).toString('base64')
  return { proxy, env: { DATA_DIR: await dataDirectory(atEnd), DATABASE_URL: proxy.url, SECRETS_KEY } }
}

async function startWorker(env: Record<string, string>, atEnd: AtEnd = onTestFinished) {
  const worker = launchWorker(env, atEnd)
  const said = async () => (worker.child.exitCode === null ? worker.stdout() : (await worker.ended).stderr)
  await until(said, (text) => text !== '')
  return worker
}

describe('the metrics of service and worker', () => {
  const atEnd = endAfterAll()
  let [WORKER_PORT, internalPort] = [0, 0]
  let env: Record<string, string>
  let proxy: FaultProxy
  let worker: Awaited<ReturnType<typeof startWorker>>
  beforeAll(async () => {
    WORKER_PORT = await freePort()
    const made = await settings(atEnd)
    proxy = made.proxy
    env = { ...made.env, WORKER_PORT: String(WORKER_PORT), INTERNAL_NAMES: 'node-1.example.org' }
    const service = start({ ...made.env, WEBHOOK_WORKER: 'true' }, { atEnd })
    ;[{ internalPort }, worker] = await Promise.all([service, startWorker(env, atEnd)])
  })

  it('are those that the alerts, the dashboard and the page on watching name', async () => {
    const scrape = async (port: number) => listNames((await send(port, 'GET', '/metrics')).text)
    const [ofService, ofWorker] = [await scrape(internalPort), await scrape(WORKER_PORT)]
    const served = new Set([...ofService, ...ofWorker])

    expect(alerts.length).toBeGreaterThan(10)
    expect(shown.length).toBeGreaterThan(20)
    const named = [...alerts.map(({ expr }) => expr), ...shown].flatMap(parseMetrics)
    // Prometheus' own.
    expect(named.filter((name) => name !== 'up' && !served.has(name))).toEqual([])
    expect(named).toContain('http_request_duration_seconds')

    const own = [...served].filter((name) => !/^(?:process|nodejs)_/.test(name) || documented.includes(name))
    expect(own.sort()).toEqual([...documented].sort())
    expect(new Set(ofWorker.filter((name) => !ofService.includes(name)))).toEqual(new Set())
    expect(table<'Alert'>(findTable('Alert')).map(({ Alert }) => Alert)).toEqual(alerts.map(({ alert }) => alert))
  })

  it('tell from a node what is late while no worker runs', async () => {
    const { env, proxy } = await settings()
    const service = await start({ ...env, WEBHOOK_WORKER: 'false' })
    const db = openTestDatabase(proxy.url)
    onTestFinished(() => db.$disconnect())
    const { subscribe, publish } = await publisher(db, createCipher([randomBytes(32)]))
    await publish(await subscribe(), { at: Date.now() - 3_600_000 })
    const samples = parseSamples((await send(service.internalPort, 'GET', '/metrics')).text)
    expect(samples.get('delivery_oldest_due_seconds')).toBeGreaterThanOrEqual(3_600)
    expect(samples.get('deliveries_due')).toBe(1)
    expect(samples.has('deliveries_under_way')).toBe(false)
  })

  it('are served while the database is away, without its figures', async () => {
    const scrape = async (port: number) => parseSamples((await send(port, 'GET', '/metrics')).text)
    const statuses = async (path: string) =>
      Promise.all([internalPort, WORKER_PORT].map(async (port) => (await send(port, 'GET', path)).status))
    // A scrape leaves out what a busy database does not tell in time.
    const deadRows = async () => (await scrape(internalPort)).get('storage_usage_dead_rows')
    await expect.poll(deadRows).toBe(0)
    expect([await statuses('/healthz'), await statuses('/readyz')]).toEqual([
      [200, 200],
      [200, 200],
    ])
    await proxy.begin('blackhole')
    expect(await statuses('/metrics')).toEqual([200, 200])
    const away = await scrape(internalPort)
    expect(away.get('http_requests_in_flight')).toBe(1)
    for (const name of ['storage_usage_dead_rows', 'database_oldest_snapshot_seconds', 'deliveries_due']) {
      expect([name, away.has(name)]).toEqual([name, false])
    }
    expect([await statuses('/healthz'), await statuses('/readyz')]).toEqual([
      [200, 200],
      [503, 503],
    ])
    await proxy.begin('refuse')
    const lost = async () => (await scrape(WORKER_PORT)).get('database_connection_failures_total')
    await expect.poll(lost).toBeGreaterThan(0)
    await proxy.end()
    await expect.poll(() => statuses('/readyz')).toEqual([200, 200])
    await expect.poll(deadRows).toBe(0)
  })

  it('have a port of the worker that answers three paths, and ends a worker with one line when it is taken', async () => {
    const answer = async (method: string, path: string) => {
      const response = await fetch(`http://127.0.0.1:${WORKER_PORT}${path}`, { method })
      return [response.status, response.headers.get('content-type'), (await response.text()).length > 0]
    }
    const json = 'application/json; charset=utf-8'
    expect(await answer('GET', '/healthz')).toEqual([200, json, true])
    expect(await answer('HEAD', '/healthz')).toEqual([200, json, false])
    expect(await answer('GET', '/metrics?x')).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8', true])
    expect(await answer('POST', '/metrics')).toEqual([405, json, true])
    for (const path of ['/', '/trpc/me.profile', '/metrics/', '/constructor', '/v1/me/profile']) {
      expect([path, ...(await answer('GET', path))]).toEqual([path, 404, json, true])
    }
    const named = (host: string) => send(WORKER_PORT, 'GET', '/metrics', { headers: { host } })
    expect([(await named('evil.example')).status, (await named('node-1.example.org')).status]).toEqual([404, 200])
    const second = launchWorker(env)
    expect(await second.ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        `^Cannot listen on port ${WORKER_PORT}: another process uses it. WORKER_PORT=\\d+ is free.\n$`,
      ),
    })
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 0, stderr: '' })
  })
})

it('the port of a worker is not there unless WORKER_PORT is set, so that a worker runs beside the service with the same settings', async () => {
  const { env } = await settings()
  const INTERNAL_PORT = await freePort()
  const given = { ...env, INTERNAL_PORT: String(INTERNAL_PORT) }
  const service = await start(given)
  const worker = await startWorker(given)
  await expect.poll(worker.stdout).toContain('"msg":"the worker delivers"')
  expect(service.child.exitCode).toBeNull()
  expect((await send(INTERNAL_PORT, 'GET', '/metrics')).text).toContain('http_requests_in_flight')
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toMatchObject({ code: 0, stderr: '' })
})

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { send, until } from '../../process/service.ts'
import { query } from '../../support/databases.ts'
import type { Topology } from './start.ts'
import { missingPrograms, startTopology } from './start.ts'

const missing = missingPrograms()

describe.skipIf(missing.length > 0)(`two nodes behind HAProxy ${missing.join(', ')}`, { timeout: 240_000 }, () => {
  let topology: Topology
  beforeAll(async () => {
    topology = await startTopology({ server: inject('databaseUrl') })
  }, 240_000)
  afterAll(() => topology?.close(), 60_000)

  const profile = (port: number, headers = {}) =>
    send(port, 'GET', '/v1/me/profile', { headers: { host: 'apps.localhost', ...headers } })
  /** The nodes whose logs have a request. */
  const served = (id: string) =>
    topology.nodes.map(({ name }) => name).filter((name) => topology.program(name).output().includes(id))

  it('serves apps through the proxy from both nodes, in production', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => profile(topology.publicPort, { 'x-request-id': 'through-the-proxy' })),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401))
    await expect.poll(() => served('through-the-proxy')).toEqual(['node-1', 'node-2'])
    expect(topology.program('node-1').output()).not.toContain('Bearer')
  })

  it('serves first-party apps at /trpc, and nothing else of the internal port', async () => {
    expect((await send(topology.internalPort, 'GET', '/trpc/me.profile')).status).toBe(401)
    for (const path of ['/healthz', '/readyz', '/metrics', '/trpc']) {
      expect([path, (await send(topology.internalPort, 'GET', path)).status]).toEqual([path, 404])
    }
  })

  it('has a database of the service whose migrations one process has applied', async () => {
    const sql = 'SELECT count(*)::int AS count, count(DISTINCT migration_name)::int AS names FROM "_prisma_migrations"'
    const [{ count, names }] = await query(topology.databaseUrl, sql)
    expect(count).toBeGreaterThan(0)
    expect(names).toBe(count)
    expect(topology.program('migrate').output()).toContain('Applied: ')
  })

  it('ends a node with 0, and serves from the other one meanwhile and after its return', async () => {
    let isOver = false
    const statuses: number[] = []
    const asking = (async () => {
      while (!isOver) statuses.push((await profile(topology.publicPort)).status)
    })()
    expect(await topology.stop('node-1')).toBe(0)
    expect((await profile(topology.publicPort, { 'x-request-id': 'one-left' })).status).toBe(401)
    await expect.poll(() => served('one-left')).toEqual(['node-2'])
    await topology.start('node-1')
    const both = async () => {
      await Promise.all(Array.from({ length: 4 }, () => profile(topology.publicPort, { 'x-request-id': 'again' })))
      return served('again').length
    }
    await until(both, (count) => count === 2)
    isOver = true
    await asking
    expect(statuses.length).toBeGreaterThan(0)
    expect([...new Set(statuses)]).toEqual([401])
  })
})

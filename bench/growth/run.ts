import pg from 'pg'
import { backendTimes } from '../backend-cpu.ts'
import type { Bench } from '../database.ts'
import { createBench, runSql } from '../database.ts'
import type { LoadProcess, RequestSet } from '../load-process.ts'
import { startLoad } from '../load-process.ts'
import type { Server } from '../process.ts'
import { restRequests } from '../requests.ts'
import { routes } from '../routes.ts'
import { startService } from '../servers.ts'
import type { Dimension } from './dimensions.ts'
import { dimensions } from './dimensions.ts'
import type { Cost } from './rows.ts'
import { growthRows } from './rows.ts'

/** Rounds that do not count. */
const WARM_UP = 2

export interface GrowthEffort {
  rounds: number
  requests: number
  connections: number
}

/** A tenth of the requests of other benches: there are many rows, and each is measured at three sizes. */
export const growthEffort = ({ rounds, requests, connections }: GrowthEffort): GrowthEffort => ({
  ...{ rounds, connections },
  requests: Math.max(200, Math.ceil(requests / 10)),
})

/** A database of one size, and a service on it. */
interface World {
  size: number
  bench: Bench
  service: Server
  client: pg.Client
  close: () => Promise<void>
}

/** Rows of cost by size, of each dimension; `say` gets those of a dimension when it is done. */
export async function benchGrowth(effort: GrowthEffort, say: (rows: string[][]) => void): Promise<string[][]> {
  const load = startLoad()
  const all: string[][] = []
  try {
    for (const dimension of dimensions) {
      const rows = await measureDimension(load, dimension, effort)
      say(rows)
      all.push(...rows)
    }
    return all
  } finally {
    await load.stop()
  }
}

async function measureDimension(load: LoadProcess, dimension: Dimension, effort: GrowthEffort): Promise<string[][]> {
  const worlds: World[] = []
  try {
    for (const size of dimension.sizes) worlds.push(await openWorld(dimension, size))
    const rows: string[][] = []
    for (const operation of dimension.operations) {
      const costs = await measure(load, worlds, dimension, operation, effort)
      rows.push(...growthRows(dimension.name, operation, dimension.sizes, costs))
    }
    return rows
  } finally {
    for (const { close } of worlds) await close()
  }
}

async function openWorld({ fill }: Dimension, size: number): Promise<World> {
  const bench = await createBench()
  try {
    await runSql(bench.url, `SET session_replication_role = replica; ${fill(size)}`, 'VACUUM ANALYZE')
    const client = new pg.Client(bench.url)
    await client.connect()
    const service = await startService(bench)
    const close = async () => {
      await service.stop()
      await client.end()
      await bench.remove()
    }
    return { size, bench, service, client, close }
  } catch (error) {
    await bench.remove()
    throw error
  }
}

/** Rounds of each size in turns. */
async function measure(
  load: LoadProcess,
  worlds: readonly World[],
  { name, requests, most = Number.POSITIVE_INFINITY }: Dimension,
  operation: string,
  effort: GrowthEffort,
): Promise<Cost[][]> {
  const { connections, rounds } = effort
  const count = Math.min(effort.requests, most)
  const costs: Cost[][] = worlds.map(() => [])
  const setOf = (size: number) => `${name} ${operation} ${size}`
  // Tokens and times differ from database to database.
  const prepare = (name: string, set: RequestSet) => load.prepare({ ...set, name, agreement: name })
  for (const { bench, service, size } of worlds) {
    await prepare(`warm-up ${setOf(size)}`, restRequests(bench, operation, routes[operation]!))
    await prepare(setOf(size), requests(bench, operation, size))
    const count = effort.requests * WARM_UP
    await load.send({ set: `warm-up ${setOf(size)}`, port: service.port, connections, count })
  }
  for (let round = -1; round < rounds; round++) {
    for (const [i, { service, client, size }] of worlds.entries()) {
      const before = await backendTimes(client)
      const cpu = await service.cpu()
      await load.send({ set: setOf(size), port: service.port, connections, count })
      const used = (await service.cpu()) - cpu
      const after = await backendTimes(client)
      const ns = [...after].reduce((sum, [pid, now]) => sum + now - (before.get(pid) ?? 0), 0)
      if (round >= 0) costs[i]!.push({ service: used / count, database: ns / 1000 / count })
    }
  }
  return costs
}

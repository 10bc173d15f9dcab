import pg from 'pg'
import type { Effort } from './compare.ts'
import { inRounds, measure } from './compare.ts'
import { backendTimes, usedDuring } from './cpu-time.ts'
import { createBench, runSql } from './data/database.ts'
import type { Dimension } from './dimension.ts'
import { dimensions } from './dimensions.ts'
import { computeRatio, median } from './figures.ts'
import type { LoadProcess } from './load/process.ts'
import { startLoad } from './load/process.ts'
import { buildRequests } from './load/requests.ts'
import { routes } from './routes/routes.ts'
import { startService } from './servers/start.ts'
import type { Table } from './table.ts'
import { rangeCell, targetCell } from './table.ts'

/** The allowed ratio of a request's cost to that at the smallest size. */
const TARGET = 1.1
const ROUNDS = 5
/** Rounds that do not count. */
const WARM_UP = 2

const COLUMNS = ['grows', 'operation', 'to', 'service µs', 'PostgreSQL µs', 'to the least', 'range', 'target']

type World = Awaited<ReturnType<typeof openWorld>>

/** Rows of cost by size, of the dimensions named, else of all; `say` gets a dimension's rows when it is done. */
export async function benchGrowth(asked: Effort, say: (table: Table) => void, names: string[] = []): Promise<Table> {
  // Fewer than in other benches: there are many rows, each is measured at three sizes, and a team and a person have limits.
  const effort = { ...asked, rounds: ROUNDS, requests: Math.max(200, Math.ceil((asked.rounds * asked.requests) / 50)) }
  const all: string[][] = []
  const chosen = dimensions.filter(({ name }) => names.length === 0 || names.includes(name))
  for (const dimension of chosen) {
    const load = startLoad()
    const worlds: World[] = []
    const rows: string[][] = []
    try {
      for (const size of dimension.sizes) worlds.push(await openWorld(dimension, size))
      for (const operation of dimension.operations) {
        const costs = await measureCosts(load, worlds, dimension, operation, effort)
        rows.push(...toRows(dimension, operation, costs))
      }
    } finally {
      for (const { close } of worlds) await close()
      await load.stop()
    }
    say({ columns: COLUMNS, rows })
    all.push(...rows)
  }
  return { columns: COLUMNS, rows: all }
}

async function openWorld({ fill }: Dimension, size: number) {
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

/** CPU time of a request in µs: of the service, and of PostgreSQL's processes. */
interface Cost {
  service: number
  database: number
}

/** Each size's costs per round; the sizes alternate. */
async function measureCosts(
  load: LoadProcess,
  worlds: readonly World[],
  { name, requests = buildRequests, most = Number.POSITIVE_INFINITY, connections }: Dimension,
  operation: string,
  asked: Effort,
): Promise<Cost[][]> {
  const effort = { ...asked, connections: connections ?? asked.connections }
  const own = { ...effort, requests: Math.min(effort.requests, most) }
  const refill = routes[operation]?.refill?.service
  const contender = ({ bench, service: server, size }: World, phase: string) => ({
    name: phase,
    server,
    set: `${phase} ${name} ${operation} ${size}`,
    ...(refill !== undefined && { before: () => runSql(bench.url, refill) }),
  })
  for (const world of worlds) {
    const [warmUp, rounds] = [contender(world, 'warm-up'), contender(world, 'rounds')]
    // Tokens and times differ from database to database.
    await load.prepare({ ...buildRequests(world.bench, operation), name: warmUp.set, agreement: warmUp.set })
    await load.prepare({ ...requests(world.bench, operation, world.size), name: rounds.set, agreement: rounds.set })
    await measure(load, warmUp, { ...effort, requests: effort.requests * WARM_UP })
  }
  const measureCost = async (world: World): Promise<Cost> => {
    const parts = { database: () => backendTimes(world.client) }
    const { result, used } = await usedDuring(parts, () => measure(load, contender(world, 'rounds'), own))
    return { service: result.cpu, database: used.database / own.requests }
  }
  const all = worlds.map((world) => () => measureCost(world))
  await inRounds(all, 1)
  return inRounds(all, effort.rounds)
}

function toRows(
  { name, sizes, operations, target = TARGET }: Dimension,
  operation: string,
  costs: readonly Cost[][],
): string[][] {
  const sums = costs.map((rounds) => rounds.map(({ service, database }) => service + database))
  return sizes.map((size, i) => {
    const ratio = computeRatio(sums[0]!, sums[i]!)
    const cells = [ratio.median.toFixed(2), rangeCell(ratio, 2), targetCell(target.toFixed(2), ratio.median > target)]
    return [
      ...[i === 0 && operation === operations[0] ? name : '', i === 0 ? operation : '', size.toLocaleString('en')],
      median(costs[i]!.map(({ service }) => service)).toFixed(0),
      median(costs[i]!.map(({ database }) => database)).toFixed(0),
      ...(i === 0 ? ['', '', ''] : cells),
    ]
  })
}

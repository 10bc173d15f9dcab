import pg from 'pg'
import type { Effort } from './compare.ts'
import { inRounds, measure, WARM_UP_REQUESTS } from './compare.ts'
import type { Cost } from './costs.ts'
import { costRows } from './costs.ts'
import { backendTimes, processTimes, usedDuring } from './cpu-time.ts'
import type { Bench } from './data/database.ts'
import type { LoadProcess } from './load/process.ts'
import { startLoad } from './load/process.ts'
import { buildRequests } from './load/requests.ts'
import type { Server } from './servers/process.ts'
import { startRedis } from './servers/redis.ts'
import { startService } from './servers/start.ts'
import type { Table } from './table.ts'
import { withLoad } from './with-load.ts'

const OPERATIONS = ['get', 'put', 'list', 'profile']
const COLUMNS = [
  ...['operation', 'nodes', 'requests/s', 'service µs', 'PostgreSQL µs', 'Redis µs'],
  ...['to one node', 'range'],
]

/** Nodes that share a database, and Redis if it is there. */
interface SetUp {
  name: string
  nodes: Server[]
  redis?: number
}

/** Rows of the cost of a request to one node and to two; `say` gets an operation's rows when it is done. */
export const benchNodes = (asked: Effort, say: (table: Table) => void): Promise<Table> =>
  withLoad(async (bench, load) => {
    const loads = [load, startLoad()]
    const client = new pg.Client(bench.url)
    const redis = await startRedis()
    const setUps: SetUp[] = []
    try {
      await client.connect()
      await startAll(bench, redis, setUps)
      const rows: string[][] = []
      for (const operation of OPERATIONS) {
        for (const one of loads) await one.prepare(buildRequests(bench, operation))
        const costs = await measureCosts(loads, client, setUps, operation, asked)
        const names = setUps.map(({ name }) => name)
        const own = costRows(operation, names, costs)
        say({ columns: COLUMNS, rows: own })
        rows.push(...own)
      }
      return { columns: COLUMNS, rows }
    } finally {
      await Promise.all(setUps.flatMap(({ nodes }) => nodes.map(({ stop }) => stop())))
      await redis.stop()
      await client.end()
      await loads[1]!.stop()
    }
  })

/** Adds each set-up before its nodes start, so that those that have started are stopped when another one fails. */
async function startAll(bench: Bench, redis: Awaited<ReturnType<typeof startRedis>>, setUps: SetUp[]) {
  const add = async (setUp: SetUp, count: number, settings: NodeJS.ProcessEnv) => {
    setUps.push(setUp)
    for (let n = 0; n < count; n++) setUp.nodes.push(await startService(bench, undefined, settings))
  }
  const shared = { REDIS_URL: redis.url }
  await add({ name: 'one', nodes: [] }, 1, { REDIS_URL: undefined })
  await add({ name: 'one, with Redis', nodes: [], redis: redis.pid }, 1, { ...shared, NODES: '1' })
  await add({ name: 'two, with Redis', nodes: [], redis: redis.pid }, 2, { ...shared, NODES: '2' })
}

/** Each set-up's costs per round; the set-ups alternate. */
async function measureCosts(
  loads: readonly LoadProcess[],
  client: pg.Client,
  setUps: readonly SetUp[],
  operation: string,
  asked: Effort,
): Promise<Cost[][]> {
  for (const { nodes } of setUps) await sendAll(loads, nodes, operation, toWarmUp(asked, nodes.length))
  const measureCost = async ({ nodes, redis }: SetUp): Promise<Cost> => {
    const parts = {
      database: () => backendTimes(client),
      redis: () => processTimes(redis === undefined ? [] : [redis]),
    }
    const { result, used } = await usedDuring(parts, () => sendAll(loads, nodes, operation, asked))
    const { perSecond, cpu, requests } = result
    return {
      perSecond,
      parts: [cpu, used.database / requests, redis === undefined ? undefined : used.redis / requests],
    }
  }
  return inRounds(
    setUps.map((setUp) => () => measureCost(setUp)),
    asked.rounds,
  )
}

const toWarmUp = ({ warmUp = WARM_UP_REQUESTS, ...asked }: Effort, nodes: number) => ({
  ...asked,
  requests: Math.max(asked.requests, warmUp * nodes),
})

/** Sends each node its share of the requests and connections, all at once; CPU time is per request. */
async function sendAll(loads: readonly LoadProcess[], nodes: readonly Server[], set: string, asked: Effort) {
  const share = (number: number) => Math.ceil(number / nodes.length)
  const [each, connections] = [share(asked.requests), share(asked.connections)]
  const sent = await Promise.all(
    nodes.map((server, i) => measure(loads[i]!, { name: set, server, set }, { ...asked, requests: each, connections })),
  )
  const requests = each * nodes.length
  const seconds = Math.max(...sent.map(({ perSecond }) => each / perSecond))
  return { requests, perSecond: requests / seconds, cpu: sent.reduce((sum, { cpu }) => sum + cpu, 0) / nodes.length }
}

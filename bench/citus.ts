import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { createOnCitus, dropOnCitus, listNodes, toDatabaseUrl } from '../deploy/citus.ts'
import { migrate } from '../prisma/migrate.ts'
import type { Run } from './club-statements.ts'
import { clubRows, clubStatements } from './club-statements.ts'
import type { Effort } from './compare.ts'
import { inRounds, WARM_UP_REQUESTS } from './compare.ts'
import type { Cost } from './costs.ts'
import { costRows } from './costs.ts'
import type { Times } from './cpu-time.ts'
import { backendTimes, usedDuring } from './cpu-time.ts'
import { runSql } from './data/database.ts'
import { removedAnyway } from './data/interrupted.ts'
import type { Table } from './table.ts'

const CONNECTIONS = 16
const COLUMNS = [...['operation', 'through', 'statements/s', 'coordinator µs', 'workers µs'], ...['to plain', 'range']]

/** A way to the rows. */
interface Way {
  name: string
  pools: pg.Pool[]
  /** Connections to the servers that take part, for their CPU time. */
  coordinator: pg.Client
  workers: pg.Client[]
}

/** Rows of the cost of the storage's statements on a plain database and on Citus; `say` gets an operation's rows when it is done. */
export async function benchCitus(coordinator: string, asked: Effort, say: (table: Table) => void): Promise<Table> {
  const name = `bench_${randomUUID().replaceAll('-', '')}`
  const remove = removedAnyway(() => dropOnCitus(coordinator, name))
  const opened: (pg.Pool | pg.Client)[] = []
  try {
    const ways = await openWays(coordinator, name, opened)
    const rows: string[][] = []
    for (const [operation, run] of Object.entries(clubStatements)) {
      const own = costRows(
        operation,
        ways.map((way) => way.name),
        await measureCosts(ways, run, asked),
      )
      say({ columns: COLUMNS, rows: own })
      rows.push(...own)
    }
    return { columns: COLUMNS, rows }
  } finally {
    await Promise.all(opened.map((one) => one.end()))
    await remove()
  }
}

async function openWays(coordinator: string, name: string, opened: (pg.Pool | pg.Client)[]): Promise<Way[]> {
  const fill = (url: string) => runSql(url, clubRows, 'VACUUM ANALYZE')
  const plain = toDatabaseUrl(coordinator, `${name}_plain`)
  await runSql(coordinator, `CREATE DATABASE ${name}_plain`)
  await migrate(plain)
  await fill(plain)
  await createOnCitus(coordinator, name, fill)
  const nodes = (await listNodes(coordinator)).map((node) => toDatabaseUrl(node, name))
  for (const node of nodes) await runSql(node, 'VACUUM ANALYZE')
  const openPools = (urls: readonly string[]) => {
    const pools = urls.map((url) => new pg.Pool({ connectionString: url, max: CONNECTIONS / urls.length }))
    opened.push(...pools)
    return pools
  }
  const connect = async (url: string) => {
    const client = new pg.Client(url)
    opened.push(client)
    await client.connect()
    return client
  }
  const [first, ...workers] = await Promise.all(nodes.map(connect))
  const cluster = { coordinator: first!, workers }
  return [
    { name: 'plain', pools: openPools([plain]), coordinator: await connect(plain), workers: [] },
    { name: 'coordinator', pools: openPools(nodes.slice(0, 1)), ...cluster },
    { name: 'all nodes', pools: openPools(nodes), ...cluster },
  ]
}

/** Each way's costs per round; the ways alternate. */
async function measureCosts(ways: readonly Way[], run: Run, asked: Effort): Promise<Cost[][]> {
  const warmUp = Math.max(asked.requests, asked.warmUp ?? WARM_UP_REQUESTS)
  for (const { pools } of ways) await runAll(pools, run, warmUp)
  const measureCost = async ({ pools, coordinator, workers }: Way): Promise<Cost> => {
    const parts = {
      coordinator: () => backendTimes(coordinator),
      workers: async (): Promise<Times> =>
        new Map((await Promise.all(workers.map(backendTimes))).flatMap((own) => [...own])),
    }
    const { result: perSecond, used } = await usedDuring(parts, () => runAll(pools, run, asked.requests))
    const each = (µs: number) => µs / asked.requests
    return { perSecond, parts: [each(used.coordinator), workers.length > 0 ? each(used.workers) : undefined] }
  }
  return inRounds(
    ways.map((way) => () => measureCost(way)),
    asked.rounds,
  )
}

/** Keeps all connections busy until `count` statements are executed; returns how many that were in a second. */
async function runAll(pools: readonly pg.Pool[], run: Run, count: number): Promise<number> {
  const from = performance.now()
  let next = 0
  const connection = async (_: unknown, n: number) => {
    while (next < count) await run(pools[n % pools.length]!, next++)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, connection))
  return (count * 1000) / (performance.now() - from)
}

import type { Bench } from './data/database.ts'
import { computeRatio, median } from './figures.ts'
import type { LoadProcess } from './load/process.ts'
import { buildRequests } from './load/requests.ts'
import type { Asked } from './measure-row.ts'
import { countRequests, measureAll } from './measure-row.ts'
import { routes, rowGroups } from './routes/routes.ts'
import type { Row } from './rows.ts'
import { CLIENT, CPU, toTable } from './rows.ts'
import type { Runtime } from './servers/runtimes.ts'
import { allRuntimes } from './servers/runtimes.ts'
import { startService } from './servers/start.ts'
import type { Table } from './table.ts'

/** The service on each Node and on Deno: all operations over REST, the first runtime as the reference. */
export async function benchRuntimes(bench: Bench, load: LoadProcess, asked: Asked, say: (table: Table) => void) {
  const [runtimes, rows] = [allRuntimes(), [] as Row[]]
  // Each operation is measured on five.
  const effort = { ...asked, requests: Math.ceil(asked.requests / 2) }
  for (const name of rowGroups.rest!) {
    const row = await measureRuntimes(bench, load, name, runtimes, effort)
    say(toTable([row], CPU, CLIENT))
    rows.push(row)
  }
  say(summarize(rows))
  return rows
}

async function measureRuntimes(
  bench: Bench,
  load: LoadProcess,
  name: string,
  runtimes: readonly Runtime[],
  { services: [words], ...asked }: Asked,
): Promise<Row> {
  const route = routes[name]!
  await load.prepare(buildRequests(bench, name))
  const entrants = runtimes.map((runtime) => ({
    name: runtime.name,
    set: name,
    refill: route.refill?.service,
    start: () => startService(bench, words!.split(' '), {}, runtime),
  }))
  const servers = await measureAll(bench, load, entrants, {
    ...asked,
    requests: countRequests(bench, route, asked.requests),
  })
  return { name, servers }
}

/** Medians over all operations. */
export function summarize(rows: readonly Row[]): Table {
  const runtimes = rows[0]!.servers.map(({ name }, i) => {
    const over = (figure: (row: Row) => number) => median(rows.map(figure))
    const cpu = over(({ servers }) => computeRatio(listCpu(servers[0]!), listCpu(servers[i]!)).median)
    const p99 = over(({ servers }) => median(servers[i]!.rounds.map((round) => round.p99)))
    const rss = over(({ servers }) => servers[i]!.rss / 2 ** 20)
    return [name, cpu.toFixed(2), p99.toFixed(1), rss.toFixed(0)]
  })
  return { columns: ['runtime', 'CPU time', 'p99 ms', 'RSS MB'], rows: runtimes }
}

/** Each operation's CPU time in µs, by runtime. */
export const tabulateCosts = (rows: readonly Row[]): Table => ({
  columns: ['operation', ...rows[0]!.servers.map(({ name }) => name)],
  rows: rows.map((row) => [row.name, ...row.servers.map((server) => median(listCpu(server)).toFixed(0))]),
})

const listCpu = ({ rounds }: Row['servers'][number]) => rounds.map(({ cpu }) => cpu)

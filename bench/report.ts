import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import pg from 'pg'
import { benchCitus } from './citus.ts'
import { benchGrowth } from './growth.ts'
import type { Asked } from './measure-row.ts'
import { measureRow } from './measure-row.ts'
import { benchMemory } from './memory.ts'
import { benchNodes } from './nodes.ts'
import { filledPage } from './page.ts'
import { barPlot } from './plot.ts'
import { rowGroups } from './routes/routes.ts'
import type { Row } from './rows.ts'
import { CLIENT, CPU, figuresOf, noteRatios, tableOf } from './rows.ts'
import { benchRuntimes } from './runtimes.ts'
import { pinned } from './servers/process.ts'
import { requireRedis } from './servers/redis.ts'
import { installPeers } from './servers/start.ts'
import type { Table } from './table.ts'
import { benchTails } from './tails/bench-tails.ts'
import { withLoad } from './with-load.ts'

/** The minimum for a meaningful spread. */
const LEAST_ROUNDS = 5
const DOCS = new URL('../docs/', import.meta.url)

export async function writeReport(asked: Asked, say: (table: Table) => void) {
  if (asked.rounds < LEAST_ROUNDS) throw new Error(`A report takes at least ${LEAST_ROUNDS} rounds.`)
  requireRedis()
  installPeers()
  const loadBefore = loadavg()[0]!
  // First what needs the most of the machine: should it fail, it does so early.
  const growth = await benchGrowth(asked, say)
  const memory = await benchMemory(asked)
  say(memory)
  const tails = await benchTails(asked, asked.services[0]!, say)
  const nodes = await benchNodes(asked, say)
  const coordinator = process.env.CITUS_URL
  const citus = coordinator ? await benchCitus(coordinator, asked, say) : undefined
  const { machine, rest, trpc, tokens, pages, runtimes } = await measureRows(asked, loadBefore, say)
  const page = new URL('performance.md', DOCS)
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const sections = { rest, trpc, tokens, pages, runtimes, growth, memory, tails, nodes, citus }
  const report = { ...asked, commit, machine, ...sections }
  await writeFile(page, filledPage(await readFile(page, 'utf8'), report))
  const groups = rest.map((row) => ({
    name: row.name,
    bars: figuresOf(row).map(({ server, cpu }) => ({ name: server.name, value: cpu.median })),
  }))
  const plot = { title: 'CPU time of a request', unit: 'µs of the process; less is better', groups }
  await writeFile(new URL('images/performance.svg', DOCS), barPlot(plot))
}

const measureRows = (asked: Asked, loadBefore: number, say: (table: Table) => void) =>
  withLoad(async (bench, load) => {
    const machine = await machineWords(bench.url, loadBefore)
    const measureAll = async (names: string[]) => {
      const rows: Row[] = []
      for (const name of names) {
        const row = await measureRow(bench, load, name, asked)
        say(tableOf([row], CPU, CLIENT))
        noteRatios(row)
        rows.push(row)
      }
      return rows
    }
    const [rest, trpc] = [await measureAll(rowGroups.rest!), await measureAll(rowGroups.trpc!)]
    const tokens = await measureAll(rowGroups.tokens!)
    const pages = await measureAll(rowGroups.pages!)
    return { machine, rest, trpc, tokens, pages, runtimes: await benchRuntimes(bench, load, asked, say) }
  })

async function machineWords(url: string, loadBefore: number): Promise<string> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<{ version: string }>('SHOW server_version').finally(() => client.end())
  const [version] = Object.values(rows[0]!)
  const model = cpus()[0]?.model.trim() || 'unknown'
  const memory = Math.round(totalmem() / 2 ** 30)
  return [
    `${availableParallelism()} cores (${model}), ${memory} GB of memory, Node ${process.versions.node},`,
    `PostgreSQL ${version!.split(' ')[0]}; ${pinned}.`,
    `Load average before the first round: ${loadBefore.toFixed(1)}.`,
  ].join(' ')
}

import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { inspect } from 'node:util'
import { benchCitus } from './citus.ts'
import { benchGrowth } from './growth.ts'
import type { Asked } from './measure-row.ts'
import { measureRow } from './measure-row.ts'
import { benchMemory } from './memory.ts'
import { benchNodes } from './nodes.ts'
import type { Places } from './page.ts'
import { filledPages, summarize } from './page.ts'
import { barPlot } from './plot.ts'
import { rowGroups } from './routes/routes.ts'
import type { Row } from './rows.ts'
import { CLIENT, CPU, computeFigures, noteRatios, toTable } from './rows.ts'
import { benchRuntimes, summarize as summaryOfRuntimes, tabulateCosts } from './runtimes.ts'
import { pinned } from './servers/process.ts'
import { installPeers } from './servers/start.ts'
import type { Table } from './table.ts'
import { tableText } from './table.ts'
import { benchTails } from './tails/bench-tails.ts'
import { withLoad } from './with-load.ts'

/** The minimum for a meaningful spread. */
const LEAST_ROUNDS = 5
const DOCS = new URL('../docs/', import.meta.url)
const PAGES = ['performance.md', 'records/performance.md', 'records/growth.md'].map((name) => new URL(name, DOCS))

type Say = (table: Table) => void

/** Each fills its own places of the pages. */
const parts: Record<string, (asked: Asked, say: Say) => Promise<Places>> = {
  async rest(asked, say) {
    installPeers()
    const rows = await measureRows(rowGroups.rest!, asked, say)
    await writeFile(new URL('images/performance.svg', DOCS), renderPlot(rows))
    return {
      summary: summarize(rows),
      cpu: measured(asked, toTable(rows, CPU)),
      clients: measured(asked, toTable(rows, CLIENT)),
    }
  },
  async trpc(asked, say) {
    return { trpc: measured(asked, toTable(await measureRows(rowGroups.trpc!, asked, say), CPU)) }
  },
  async tokens(asked, say) {
    return { tokens: measured(asked, toTable(await measureRows(rowGroups.tokens!, asked, say), CPU, CLIENT)) }
  },
  async pages(asked, say) {
    return { pages: measured(asked, toTable(await measureRows(rowGroups.pages!, asked, say), CPU)) }
  },
  async runtimes(asked, say) {
    const rows = await withLoad((bench, load) => benchRuntimes(bench, load, asked, say))
    return { runtimes: measured(asked, summaryOfRuntimes(rows), tabulateCosts(rows)) }
  },
  async memory(asked, say) {
    const memory = await benchMemory(asked)
    say(memory)
    return { memory: measured(asked, memory) }
  },
  async tails(asked, say) {
    const { latencies, histogram, causes } = await benchTails(asked, asked.services[0]!, say)
    return {
      tails: measured(asked, latencies),
      histogram: tableText(histogram),
      causes: tableText(causes),
    }
  },
  async nodes(asked, say) {
    return { nodes: measured(asked, await benchNodes(asked, say)) }
  },
  async citus(asked, say) {
    const coordinator = process.env.CITUS_URL
    return coordinator ? { citus: measured(asked, await benchCitus(coordinator, asked, say)) } : {}
  },
  async growth(asked, say) {
    return { growth: measured(asked, await benchGrowth(asked, say)) }
  },
}

/** Measures the parts named, else all, and writes each when it is measured: one that fails leaves its tables as they are. */
export async function writeReport(asked: Asked, names: readonly string[], say: Say) {
  if (asked.rounds < LEAST_ROUNDS) throw new Error(`A report takes at least ${LEAST_ROUNDS} rounds.`)
  for (const name of names.length > 0 ? names : Object.keys(parts)) {
    const part = parts[name]
    if (!part) throw new Error(`A report has the parts ${Object.keys(parts).join(', ')}.`)
    try {
      const places = await part({ ...asked, peers: name === 'rest' }, say)
      const texts = await Promise.all(PAGES.map((page) => readFile(page, 'utf8')))
      for (const [i, text] of filledPages(texts, places).entries()) await writeFile(PAGES[i]!, text)
    } catch (error) {
      process.stderr.write(`${name}: ${inspect(error)}\n`)
      process.exitCode = 1
    }
  }
}

const measureRows = (names: readonly string[], asked: Asked, say: Say) =>
  withLoad(async (bench, load) => {
    const rows: Row[] = []
    for (const name of names) {
      const row = await measureRow(bench, load, name, asked)
      say(toTable([row], CPU, CLIENT))
      noteRatios(row)
      rows.push(row)
    }
    return rows
  })

/** Tables with where they come from. */
const measured = (asked: Asked, ...tables: Table[]): string =>
  [describeOrigin(asked), ...tables.map(tableText)].join('\n\n')

function describeOrigin({ connections, rounds, requests, seconds }: Asked): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const model = cpus()[0]?.model.trim() || 'unknown'
  const memory = Math.round(totalmem() / 2 ** 30)
  return [
    `Commit ${commit}, on ${new Date().toISOString().slice(0, 10)}: ${availableParallelism()} cores (${model}),`,
    `${memory} GB of memory, Node ${process.versions.node}; ${pinned}; ${connections} connections, medians of ${rounds} rounds of`,
    `${requests.toLocaleString('en')} requests, tails of ${seconds} s.`,
  ].join(' ')
}

function renderPlot(rows: readonly Row[]): string {
  const groups = rows.map((row) => ({
    name: row.name,
    bars: computeFigures(row).map(({ server, cpu }) => ({ name: server.name, value: cpu.median })),
  }))
  return barPlot({ title: 'CPU time of a request', unit: 'µs of the process; less is better', groups })
}

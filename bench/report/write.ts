import { mkdir, writeFile } from 'node:fs/promises'
import type { Asked } from '../comparison.ts'
import { measureRow, rowNames } from '../comparison.ts'
import type { Bench } from '../database.ts'
import { createBench } from '../database.ts'
import { GROWTH_COLUMNS } from '../growth/rows.ts'
import { benchGrowth, growthEffort } from '../growth/run.ts'
import { startLoad } from '../load-process.ts'
import { benchMemory } from '../memory.ts'
import { MEMORY_COLUMNS } from '../memory-rows.ts'
import { installPeers } from '../peers.ts'
import { restRoutes } from '../routes.ts'
import type { Row } from '../rows.ts'
import { COLUMNS, cellsOf, figuresOf, noteRatios } from '../rows.ts'
import { benchTails } from '../tails.ts'
import { TAILS_COLUMNS } from '../tails-rows.ts'
import { textTable } from '../text-table.ts'
import { machineWords } from './machine.ts'
import { renderPage } from './page.ts'
import { barPlot } from './plot.ts'

/** A spread of fewer says little. */
const LEAST_ROUNDS = 5
const DOCS = new URL('../../docs/', import.meta.url)

/** Measures everything, and writes docs/performance.md with its plot. */
export async function writeReport(asked: Asked & { seconds: number }, say: (text: string) => void) {
  if (asked.rounds < LEAST_ROUNDS) throw new Error(`A report takes at least ${LEAST_ROUNDS} rounds.`)
  installPeers()
  const bench = await createBench()
  const { machine, rest, trpc } = await measureRows(bench, asked, say).finally(() => bench.remove())
  const growth = await benchGrowth(growthEffort(asked), (rows) => say(textTable(GROWTH_COLUMNS, rows)))
  const memory = await benchMemory(asked)
  say(textTable(MEMORY_COLUMNS, memory))
  const tails = await benchTails(asked)
  say(textTable(TAILS_COLUMNS, tails))
  const { rounds, requests, connections, seconds } = asked
  const date = new Date().toISOString().slice(0, 10)
  const page = renderPage({ machine, date, rounds, requests, connections, seconds, rest, trpc, growth, memory, tails })
  await mkdir(new URL('images/', DOCS), { recursive: true })
  await writeFile(new URL('performance.md', DOCS), page)
  await writeFile(new URL('images/performance.svg', DOCS), plotOf(rest))
}

async function measureRows(bench: Bench, asked: Asked, say: (text: string) => void) {
  const machine = await machineWords(bench.url)
  const load = startLoad()
  try {
    const measureAll = async (names: string[]) => {
      const rows: Row[] = []
      for (const name of names) {
        const row = await measureRow(bench, load, name, asked)
        say(textTable(COLUMNS, cellsOf(row)))
        noteRatios(row)
        rows.push(row)
      }
      return rows
    }
    const rest = await measureAll(Object.keys(restRoutes))
    return { machine, rest, trpc: await measureAll(rowNames.filter((name) => name.startsWith('trpc-'))) }
  } finally {
    await load.stop()
  }
}

function plotOf(rows: readonly Row[]): string {
  const groups = rows.map((row) => ({
    name: row.name,
    bars: figuresOf(row).map(({ name, cpu }) => ({ name, value: cpu.median })),
  }))
  return barPlot({ title: 'CPU time of a request', unit: 'µs of the process; less is better', groups })
}

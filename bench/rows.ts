import type { Measured } from './compare.ts'
import type { Spread } from './figures.ts'
import { computeRatio, computeSpread, median, noteFigure } from './figures.ts'
import type { Table } from './table.ts'
import { rangeCell, targetCell } from './table.ts'

/** An operation's measurements. The first server is the reference. */
export interface Row {
  name: string
  /** The highest allowed ratio of the second server's CPU time to the first's. */
  target?: number | undefined
  /** The most CPU time of the first server, in µs, where it is the service. */
  limit?: number
  servers: Measured[]
}

/** A server's figures in a row: the ratio is undefined for the first server; one server has the target. */
export interface Figures {
  server: Measured
  cpu: Spread
  ratio: Spread | undefined
  target: number | undefined
  isBeyond: boolean
}

export function computeFigures({ target, limit, servers }: Row): Figures[] {
  const listCpu = ({ rounds }: Measured) => rounds.map(({ cpu }) => cpu)
  return servers.map((server, i) => {
    const ratio = i === 0 ? undefined : computeRatio(listCpu(servers[0]!), listCpu(server))
    const cpu = computeSpread(listCpu(server))
    const own = [limit, target][i]
    const isBeyond = own !== undefined && (ratio ?? cpu).median > own
    return { server, cpu, ratio, target: own, isBeyond }
  })
}

export function noteRatios(row: Row): void {
  for (const { server, ratio } of computeFigures(row)) {
    if (ratio) noteFigure({ name: `${row.name}, ${server.name}`, value: ratio.median, unit: '×' })
  }
}

interface Columns {
  names: string[]
  cells: (figures: Figures) => string[]
}

export const CPU: Columns = {
  names: ['CPU µs', 'range', 'ratio', 'range', 'target'],
  cells: ({ cpu, ratio, target, isBeyond }) => [
    ...[cpu.median.toFixed(0), rangeCell(cpu, 0)],
    ...(ratio ? [ratio.median.toFixed(2), rangeCell(ratio, 2)] : ['', '']),
    target === undefined ? '' : targetCell(target, isBeyond),
  ],
}

export const CLIENT: Columns = {
  names: ['requests/s', 'p50 ms', 'p99 ms', 'allocated KB', 'RSS MB'],
  cells: ({ server: { rounds, allocated, rss } }) => [
    median(rounds.map(({ perSecond }) => perSecond)).toFixed(0),
    median(rounds.map(({ p50 }) => p50)).toFixed(1),
    median(rounds.map(({ p99 }) => p99)).toFixed(1),
    ...[(allocated / 1024).toFixed(0), (rss / 2 ** 20).toFixed(0)],
  ],
}

export const toTable = (rows: readonly Row[], ...of: Columns[]): Table => ({
  columns: ['operation', 'server', ...of.flatMap(({ names }) => names)],
  rows: rows.flatMap((row) =>
    computeFigures(row).map((figures, i) => [
      ...[i === 0 ? row.name : '', figures.server.name],
      ...of.flatMap(({ cells }) => cells(figures)),
    ]),
  ),
})

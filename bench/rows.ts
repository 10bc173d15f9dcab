import type { Measured } from './compare.ts'
import type { Spread } from './figures.ts'
import { median, noteFigure, ratioOf, spreadOf } from './figures.ts'

/** What was measured for an operation. The first server is the one that the others are compared with. */
export interface Row {
  name: string
  /** The highest allowed ratio of the second server's CPU time to that of the first. */
  target: number | undefined
  servers: Measured[]
}

/** The figures of a server in a row. */
export interface Figures {
  name: string
  /** µs per request. */
  cpu: Spread
  /** To the first server's; undefined for that one. */
  ratio: Spread | undefined
  target: number | undefined
  isBeyond: boolean
  perSecond: number
  /** ms. */
  p50: number
  p99: number
  /** Bytes. */
  allocated: number
  rss: number
}

export function figuresOf({ target, servers }: Row): Figures[] {
  const cpuOf = ({ rounds }: Measured) => rounds.map(({ cpu }) => cpu)
  return servers.map((server, i) => {
    const ratio = i === 0 ? undefined : ratioOf(cpuOf(servers[0]!), cpuOf(server))
    const own = i === 1 ? target : undefined
    const middle = (pick: (round: Measured['rounds'][number]) => number) => median(server.rounds.map(pick))
    return {
      name: server.name,
      cpu: spreadOf(cpuOf(server)),
      ratio,
      target: own,
      isBeyond: own !== undefined && ratio!.median > own,
      perSecond: middle(({ perSecond }) => perSecond),
      p50: middle(({ p50 }) => p50),
      p99: middle(({ p99 }) => p99),
      allocated: server.allocated,
      rss: server.rss,
    }
  })
}

/** For the record of `npm run verify`. */
export function noteRatios(row: Row): void {
  for (const { name, ratio } of figuresOf(row)) {
    if (ratio) noteFigure({ name: `${row.name}, ${name}`, value: ratio.median, unit: '×' })
  }
}

const NAMES = ['operation', 'server']
const CPU = ['CPU µs', 'least – most', 'ratio', 'least – most', 'target']
const CLIENT = ['requests/s', 'p50 ms', 'p99 ms', 'allocated KB', 'RSS MB']
export const COLUMNS = [...NAMES, ...CPU, ...CLIENT]
export const CPU_COLUMNS = [...NAMES, ...CPU]
export const CLIENT_COLUMNS = [...NAMES, ...CLIENT]

const linesOf = (row: Row, ...cells: ((figures: Figures) => string[])[]) =>
  figuresOf(row).map((figures, i) => [i === 0 ? row.name : '', figures.name, ...cells.flatMap((of) => of(figures))])

/** The cells of a row, a line for each server. */
export const cellsOf = (row: Row) => linesOf(row, cpuCells, clientCells)
export const cpuCellsOf = (row: Row) => linesOf(row, cpuCells)
export const clientCellsOf = (row: Row) => linesOf(row, clientCells)

const range = ({ least, most }: Spread, digits: number) => `${least.toFixed(digits)} – ${most.toFixed(digits)}`

const cpuCells = ({ cpu, ratio, target, isBeyond }: Figures) => [
  ...[cpu.median.toFixed(0), range(cpu, 0)],
  ...(ratio ? [ratio.median.toFixed(2), range(ratio, 2)] : ['', '']),
  target === undefined ? '' : `${target}${isBeyond ? ' missed' : ''}`,
]

const clientCells = ({ perSecond, p50, p99, allocated, rss }: Figures) => [
  ...[perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(1)],
  ...[(allocated / 1024).toFixed(0), (rss / 2 ** 20).toFixed(0)],
]

import { computeRatio, computeSpread, median, percentile } from '../figures.ts'
import type { Opened } from '../load/process.ts'
import type { Table } from '../table.ts'
import { rangeCell, targetCell } from '../table.ts'
import type { LoadRun, TailLoad } from './loads.ts'
import { tailLoads } from './loads.ts'

/** The client's timer is late by up to 1 ms, and sends what is due together. */
const CLIENT_LATE_MS = 2

const fromSent = ({ times, lateness }: Opened) => times.map((time, i) => time - lateness[i]!)

/** From when a request was due or, if the client itself was late, from when it was sent. */
const heldTimes = ({ times, lateness }: Opened) =>
  times.map((time, i) => (lateness[i]! > CLIENT_LATE_MS ? time - lateness[i]! : time))

/** Rounds of a load: each on both servers, one after the other. */
export interface Rounds {
  bare: LoadRun[]
  service: LoadRun[]
}

const columns = [
  ...['load', 'server', 'requests/s', 'p50 ms', 'p99 ms', 'range', 'p99 : p50', 'p99 : bare', 'range', 'target'],
  ...['from due', 'from sent', 'sent late'],
]

/** Medians of the rounds; capacity in requests/s. */
export function tabulateLatencies(capacity: number, loads: Rounds[]): Table {
  const closed = ['capacity, closed loop', 'service', capacity.toFixed(0), ...columns.slice(3).map(() => '')]
  return { columns, rows: [closed, ...tailLoads.flatMap((load, i) => toRows(load, loads[i]!))] }
}

function toRows({ name, target, uploads }: TailLoad, { bare, service }: Rounds): string[][] {
  const [ofBare, ofService] = [tabulateTimes(bare), tabulateTimes(service)]
  const ratio = computeRatio(ofBare.p99, ofService.p99)
  const stored = median(service.map(({ uploadsPerSecond }) => uploadsPerSecond))
  const compared = [ratio.median.toFixed(2), rangeCell(ratio, 2), targetCell(target, ratio.median > target)]
  return [
    [uploads ? `${name} (${stored.toFixed(1)}/s)` : name, 'bare', ...cells(ofBare, ['', '', ''])],
    ['', 'service', ...cells(ofService, compared)],
  ]
}

/** A value for each round. */
function tabulateTimes(runs: LoadRun[]) {
  const of = (times: (run: LoadRun) => number[], share: number) => runs.map((run) => percentile(times(run), share))
  return {
    perSecond: runs.map(({ perSecond }) => perSecond),
    p50: of(heldTimes, 0.5),
    p99: of(heldTimes, 0.99),
    others: [of(({ times }) => times, 0.99), of(fromSent, 0.99), of(({ lateness }) => lateness, 0.99)],
  }
}

const cells = ({ perSecond, p50, p99, others }: ReturnType<typeof tabulateTimes>, compared: string[]): string[] => [
  ...[median(perSecond).toFixed(0), median(p50).toFixed(1), median(p99).toFixed(1), rangeCell(computeSpread(p99), 1)],
  ...[(median(p99) / median(p50)).toFixed(1), ...compared],
  ...others.map((times) => median(times).toFixed(1)),
]

/** The share of each load's requests to the service between a bound and the one before it. */
export function tabulateHistogram(loads: Rounds[]): Table {
  const counts = loads.map(({ service }) => {
    const held = service.flatMap(heldTimes)
    const buckets = held.map((time) => Math.max(0, Math.ceil(Math.log2(time))))
    return { buckets, last: buckets.reduce((most, bucket) => Math.max(most, bucket), 0) }
  })
  const last = Math.max(...counts.map((count) => count.last))
  const share = (buckets: number[], bucket: number) =>
    `${((100 * buckets.filter((one) => one === bucket).length) / buckets.length).toFixed(2)} %`
  const rows = Array.from({ length: last + 1 }, (_, bucket) => [
    String(2 ** bucket),
    ...counts.map(({ buckets }) => share(buckets, bucket)),
  ])
  return { columns: ['up to ms', ...tailLoads.map(({ name }) => name)], rows }
}

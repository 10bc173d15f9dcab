import { percentile } from '../figures.ts'
import type { Opened } from '../load/process.ts'
import type { Table } from '../table.ts'
import { targetCell } from '../table.ts'
import type { LoadRun, TailLoad } from './loads.ts'
import { tailLoads } from './loads.ts'

/** The client's timer is late by up to 1 ms, and sends what is due together. */
const CLIENT_LATE_MS = 2

const fromSent = ({ times, lateness }: Opened) => times.map((time, i) => time - lateness[i]!)

/** From when a request was due or, if the client itself was late, from when it was sent. */
const heldTimes = ({ times, lateness }: Opened) =>
  times.map((time, i) => (lateness[i]! > CLIENT_LATE_MS ? time - lateness[i]! : time))

export function latenciesOf(capacity: number, runs: LoadRun[]): Table {
  const columns = [
    'load',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'p99 : p50',
    'target',
    'from due',
    'from sent',
    'sent late',
  ]
  const closed = ['capacity, closed loop', capacity.toFixed(0), ...columns.slice(2).map(() => '')]
  return { columns, rows: [closed, ...tailLoads.map((load, i) => row(load, runs[i]!))] }
}

function row({ name, target, uploads }: TailLoad, run: LoadRun): string[] {
  const held = heldTimes(run)
  const [p50, p99] = [percentile(held, 0.5), percentile(held, 0.99)]
  const others = [run.times, fromSent(run), run.lateness].map((times) => percentile(times, 0.99).toFixed(1))
  return [
    uploads ? `${name} (${run.uploadsPerSecond.toFixed(1)}/s)` : name,
    ...[run.perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(1), (p99 / p50).toFixed(1)],
    targetCell(target, p99 / p50 > target),
    ...others,
  ]
}

/** The share of each load's requests between a bound and the one before it. */
export function histogramOf(runs: LoadRun[]): Table {
  const counts = runs.map((run) => {
    const held = heldTimes(run)
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

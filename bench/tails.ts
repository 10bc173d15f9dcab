import { median } from './figures.ts'
import type { Sent } from './load/process.ts'
import { mixedRequests } from './load/requests.ts'
import { ask, start, TSX } from './servers/process.ts'
import { startService } from './servers/start.ts'
import type { Table } from './table.ts'
import { targetCell } from './table.ts'
import { withLoad } from './with-load.ts'

/** Concurrent uploads. */
const UPLOADS = 2
const CAPACITY_ROUNDS = 3
/** Ratio of p99 to p50, with uploads. */
const TARGET = 4

/** Latency at half of the capacity, without and with uploads of 5 MB. */
export const benchTails = (asked: { connections: number; requests: number; seconds: number }): Promise<Table> =>
  withLoad(async (bench, load) => {
    const service = await startService(bench)
    try {
      const mixed = mixedRequests(bench)
      await load.prepare(mixed)
      const to = { set: mixed.name, port: service.port }
      const closed = { ...to, connections: asked.connections, count: asked.requests }
      await load.send(closed)
      const rates: number[] = []
      for (let round = 0; round < CAPACITY_ROUNDS; round++) rates.push((await load.send(closed)).perSecond)
      const capacity = median(rates)
      // More than the closed loop's connections: a request in time must not wait for a late one's connection.
      const half = { ...to, connections: 512, perSecond: capacity / 2, seconds: asked.seconds }
      await load.send({ ...half, seconds: Math.min(2, asked.seconds) })
      const alone = await load.send(half)
      const tokens = bench.tenants.slice(-UPLOADS).map(({ token }) => token)
      const { sent: beside, perSecond } = await besideUploads(service.port, tokens, () => load.send(half))
      return {
        columns: ['load', 'requests/s', 'p50 ms', 'p99 ms', 'p99 : p50', 'target', 'sent late ms'],
        rows: [
          ['capacity, closed loop', capacity.toFixed(0), '', '', '', '', ''],
          row('half of it', alone),
          row(`half of it, and ${perSecond.toFixed(1)} uploads of 5 MB a second`, beside, true),
        ],
      }
    } finally {
      await service.stop()
    }
  })

async function besideUploads(port: number, tokens: string[], work: () => Promise<Sent>) {
  const program = new URL('load/upload.ts', import.meta.url).pathname
  const { child, stop } = start(1, [...TSX, program], { PORT: String(port), TOKENS: JSON.stringify(tokens) })
  try {
    const start = performance.now()
    const sent = await work()
    const stored = await ask<number>(child, 'over')
    return { sent, perSecond: (stored * 1000) / (performance.now() - start) }
  } finally {
    await stop()
  }
}

function row(name: string, { perSecond, p50, p99, late }: Sent, isHeld = false): string[] {
  const ratio = p99 / p50
  const goal = isHeld ? targetCell(TARGET, ratio > TARGET) : ''
  return [name, perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(1), ratio.toFixed(1), goal, late.toFixed(1)]
}

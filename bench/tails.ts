import { once } from 'node:events'
import type { Bench } from './database.ts'
import { createBench } from './database.ts'
import { median } from './figures.ts'
import type { LoadProcess, Sent } from './load-process.ts'
import { startLoad } from './load-process.ts'
import { mixedRequests } from './mixed.ts'
import type { Server } from './process.ts'
import { startPinned } from './process.ts'
import { startService } from './servers.ts'
import { tailsRow } from './tails-rows.ts'

/** Uploads at a time. */
const UPLOADS = 2
/** For the rounds that find out the capacity. */
const CAPACITY_ROUNDS = 3

/** Latency at half of the capacity: alone, and beside uploads of 5 MB. */
export async function benchTails(asked: {
  connections: number
  requests: number
  seconds: number
}): Promise<string[][]> {
  const bench = await createBench()
  const load = startLoad()
  try {
    const service = await startService(bench)
    try {
      const mixed = mixedRequests(bench)
      await load.prepare(mixed)
      const capacity = await capacityOf(load, mixed.name, service, asked)
      // Beyond the connections of the closed loop: a request in time must not wait for a late one's connection.
      const half = {
        set: mixed.name,
        port: service.port,
        connections: 512,
        perSecond: capacity / 2,
        seconds: asked.seconds,
      }
      await load.send({ ...half, seconds: 2 })
      const alone = await load.send(half)
      const { sent: beside, perSecond } = await besideUploads(bench, service, () => load.send(half))
      return [
        ['capacity, closed loop', capacity.toFixed(0), '', '', '', '', ''],
        tailsRow('half of it', alone),
        tailsRow(`half of it, and ${perSecond.toFixed(1)} uploads of 5 MB a second`, beside, true),
      ]
    } finally {
      await service.stop()
    }
  } finally {
    await load.stop()
    await bench.remove()
  }
}

/** Requests a second that the service answers when it is never without work. */
async function capacityOf(
  load: LoadProcess,
  set: string,
  { port }: Server,
  asked: { connections: number; requests: number },
) {
  const closed = { set, port, connections: asked.connections, count: asked.requests }
  await load.send(closed)
  const rates: number[] = []
  for (let round = 0; round < CAPACITY_ROUNDS; round++) rates.push((await load.send(closed)).perSecond)
  return median(rates)
}

async function besideUploads(bench: Bench, { port }: Server, work: () => Promise<Sent>) {
  const TOKENS = JSON.stringify(bench.tenants.slice(-UPLOADS).map(({ token }) => token))
  const program = new URL('upload.ts', import.meta.url).pathname
  const { child, stop } = startPinned(1, ['--import', 'tsx', program], { PORT: String(port), TOKENS })
  try {
    const start = performance.now()
    const sent = await work()
    const told = once(child, 'message')
    child.send('over')
    const [stored] = (await told) as [number]
    return { sent, perSecond: (stored * 1000) / (performance.now() - start) }
  } finally {
    await stop()
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import { createBench } from './database.ts'
import { startLoad } from './load-process.ts'
import type { Start } from './memory-rows.ts'
import { memoryRows } from './memory-rows.ts'
import { mixedRequests } from './mixed.ts'
import { startService } from './servers.ts'

const STARTS = 3
const REST_MS = 10_000
const REQUESTS = 100_000

/** CPU time of a start, with nothing to migrate; memory at rest, and after many requests. Of some starts, one after another. */
export async function benchMemory({ connections }: { connections: number }): Promise<string[][]> {
  const bench = await createBench()
  const load = startLoad()
  const figures: Start[] = []
  try {
    const mixed = mixedRequests(bench)
    await load.prepare(mixed)
    // The first start of a database creates keys.
    await (await startService(bench)).stop()
    for (let start = 0; start < STARTS; start++) {
      const service = await startService(bench)
      try {
        const seconds = (await service.cpu()) / 1e6
        await pause(REST_MS)
        const rest = await service.rss()
        await load.send({ set: mixed.name, port: service.port, connections, count: REQUESTS })
        figures.push({ seconds, rest, after: await service.rss() })
      } finally {
        await service.stop()
      }
    }
  } finally {
    await load.stop()
    await bench.remove()
  }
  return memoryRows(figures, REQUESTS)
}

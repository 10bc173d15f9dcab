import { setTimeout as pause } from 'node:timers/promises'
import { computeSpread } from './figures.ts'
import { mixedRequests } from './load/requests.ts'
import { startService } from './servers/start.ts'
import type { Table } from './table.ts'
import { rangeCell, targetCell } from './table.ts'
import { withLoad } from './with-load.ts'

const STARTS = 3
/** The first housekeeping begins after a minute. */
const REST_SECONDS = 70
const REQUESTS = 100_000

/** CPU time of a start with nothing to migrate; memory at rest, and after many requests. Over several sequential starts. */
export const benchMemory = ({ connections }: { connections: number }): Promise<Table> =>
  withLoad(async (bench, load) => {
    const [seconds, rest, after]: number[][] = [[], [], []]
    const mixed = mixedRequests(bench)
    await load.prepare(mixed)
    for (let start = 0; start < STARTS; start++) {
      const service = await startService(bench)
      try {
        seconds!.push((await service.cpu()) / 1e6)
        await pause(REST_SECONDS * 1_000)
        rest!.push((await service.rss()) / 2 ** 20)
        await load.send({ set: mixed.name, port: service.port, connections, count: REQUESTS })
        after!.push((await service.rss()) / 2 ** 20)
      } finally {
        await service.stop()
      }
    }
    return {
      columns: ['of the process', 'median', 'range', 'target'],
      rows: [
        row('CPU until it listens, s', seconds!, 0.55, 2),
        row(`memory after ${REST_SECONDS} s at rest, MB`, rest!, 86, 0),
        row(`memory after ${REQUESTS.toLocaleString('en')} requests, MB`, after!, 130, 0),
      ],
    }
  })

function row(name: string, values: number[], target: number, digits: number): string[] {
  const spread = computeSpread(values)
  const { median } = spread
  return [name, median.toFixed(digits), rangeCell(spread, digits), targetCell(target, median > target)]
}

import type { Bench } from '../data/database.ts'
import type { LoadProcess } from '../load/process.ts'
import { isTraced, toTraceId } from '../load/trace-ids.ts'
import { startService } from '../servers/start.ts'
import type { Table } from '../table.ts'
import type { SlowRequest } from './cause.ts'
import { findCause } from './cause.ts'
import type { TracedSpan } from './collector.ts'
import { startCollector } from './collector.ts'
import { watchDatabase } from './database-waits.ts'
import type { LoadRun, TailAsked } from './loads.ts'
import { prepareLoads, tailLoads } from './loads.ts'

const SLOWEST = 20
const LONGEST_SECONDS = 10

/** Small batches: one of 512 spans, the default, takes the event loop 5 ms. */
const BATCHES = {
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '64',
  OTEL_BSP_MAX_QUEUE_SIZE: '100000',
  OTEL_BSP_SCHEDULE_DELAY: '100',
}
/** After which the last spans have arrived. */
const EXPORTED_MS = 500

/** The causes of the slowest traced requests of each load; the loads are shares of the capacity of this service. */
export async function benchCauses(bench: Bench, load: LoadProcess, service: string, asked: TailAsked): Promise<Table> {
  const collector = await startCollector()
  const server = await startService(bench, service.split(' '), {
    ...BATCHES,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'parentbased_always_off',
  })
  try {
    const { capacity, run } = await prepareLoads(bench, load, server, asked)
    const found: { cause: string; total: number }[][] = []
    for (const one of tailLoads) {
      const [endClient, endServer] = [await load.watch(), await server.watch()]
      const database = await watchDatabase(bench.url)
      const sent = await run(one, capacity, Math.min(LONGEST_SECONDS, asked.seconds), true)
      await database.end()
      const measured = { client: await endClient(), server: await endServer(), database }
      await new Promise((resolve) => setTimeout(resolve, EXPORTED_MS))
      found.push(findSlowest(sent, collector.take()).map((request) => findCause(request, measured)))
    }
    return toTable(found)
  } finally {
    await server.stop()
    collector.stop()
  }
}

function findSlowest({ due, times, lateness }: LoadRun, traces: Map<string, TracedSpan[]>): SlowRequest[] {
  const order = times.flatMap((_, i) => (isTraced(i) ? [i] : [])).toSorted((a, b) => times[b]! - times[a]!)
  return order.slice(0, SLOWEST).map((i) => ({
    due: due[i]!,
    sent: due[i]! + lateness[i]!,
    answered: due[i]! + times[i]!,
    spans: traces.get(toTraceId(i)) ?? [],
  }))
}

/** For each load, how many of the slowest requests have a cause, and the longest of them. */
function toTable(found: { cause: string; total: number }[][]): Table {
  const causes = [...new Set(found.flat().map(({ cause }) => cause))].toSorted()
  const cell = (requests: { cause: string; total: number }[], cause: string) => {
    const totals = requests.filter((one) => one.cause === cause).map(({ total }) => total)
    return totals.length === 0 ? '' : `${totals.length}, ${Math.max(...totals).toFixed(0)} ms`
  }
  const rows = causes.map((cause) => [cause, ...found.map((requests) => cell(requests, cause))])
  return { columns: ['cause', ...tailLoads.map(({ name }) => name)], rows }
}

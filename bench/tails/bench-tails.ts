import { startService } from '../servers/start.ts'
import type { Table } from '../table.ts'
import { withLoad } from '../with-load.ts'
import { benchCauses } from './causes.ts'
import { histogramOf, latenciesOf } from './latencies.ts'
import type { LoadRun, TailAsked } from './loads.ts'
import { prepareLoads, tailLoads } from './loads.ts'

export interface Tails {
  latencies: Table
  histogram: Table
  causes: Table
}

/** Latency at half and at 80 % of the capacity, without and with uploads, and the causes of the slowest requests. */
export const benchTails = (asked: TailAsked, service: string, say: (table: Table) => void): Promise<Tails> =>
  withLoad(async (bench, load) => {
    const server = await startService(bench, service.split(' '))
    const runs: LoadRun[] = []
    let latencies: Table
    try {
      const { capacity, run } = await prepareLoads(bench, load, server, asked)
      for (const one of tailLoads) runs.push(await run(one, asked.seconds))
      latencies = latenciesOf(capacity, runs)
    } finally {
      await server.stop()
    }
    say(latencies)
    const histogram = histogramOf(runs)
    say(histogram)
    const causes = await benchCauses(bench, load, service, asked)
    say(causes)
    return { latencies, histogram, causes }
  })

import type { Bench } from '../data/database.ts'
import type { LoadProcess } from '../load/process.ts'
import { asleep } from '../servers/awake.ts'
import type { Server } from '../servers/process.ts'
import { startHandlers, startService } from '../servers/start.ts'
import type { Table } from '../table.ts'
import { withLoad } from '../with-load.ts'
import { benchCauses } from './causes.ts'
import type { Rounds } from './latencies.ts'
import { tabulateHistogram, tabulateLatencies } from './latencies.ts'
import type { TailAsked } from './loads.ts'
import { prepareLoads, tailLoads } from './loads.ts'

/** Into which the seconds of a load are divided: a stop of the whole machine falls into one of them. */
const ROUNDS = 5

export interface Tails {
  latencies: Table
  histogram: Table
  causes: Table
}

/**
 * Latency at half and at 80 % of the service's capacity, without and with uploads, beside bare handlers with the same load; and the
 * causes of the slowest requests.
 */
export const benchTails = (asked: TailAsked, service: string, say: (table: Table) => void): Promise<Tails> =>
  asleep(() =>
    withLoad(async (bench, load) => {
      const { capacity, loads } = await measureLoads(bench, load, asked, service)
      const latencies = tabulateLatencies(capacity, loads)
      say(latencies)
      const histogram = tabulateHistogram(loads)
      say(histogram)
      const causes = await benchCauses(bench, load, service, asked)
      say(causes)
      return { latencies, histogram, causes }
    }),
  )

async function measureLoads(bench: Bench, load: LoadProcess, asked: TailAsked, words: string) {
  const service = await startService(bench, words.split(' '))
  let bare: Server | undefined
  try {
    bare = await startHandlers('bare', bench, 'mixed')
    const { capacity, run } = await prepareLoads(bench, load, service, asked)
    const { run: runBare } = await prepareLoads(bench, load, bare, asked)
    const loads: Rounds[] = []
    for (const one of tailLoads) {
      const rounds: Rounds = { bare: [], service: [] }
      for (let round = 0; round < ROUNDS; round++) {
        rounds.bare.push(await runBare(one, capacity, asked.seconds / ROUNDS))
        rounds.service.push(await run(one, capacity, asked.seconds / ROUNDS))
      }
      loads.push(rounds)
    }
    return { capacity, loads }
  } finally {
    await Promise.all([service.stop(), bare?.stop()])
  }
}

import type { Bench } from './data/database.ts'
import { createBench } from './data/database.ts'
import type { LoadProcess } from './load/process.ts'
import { startLoad } from './load/process.ts'
import { startService } from './servers/start.ts'

/** Runs `work` with a database and the process that sends requests, and ends both afterwards. */
export async function withLoad<Result>(work: (bench: Bench, load: LoadProcess) => Promise<Result>): Promise<Result> {
  const bench = await createBench()
  const load = startLoad()
  try {
    // The first start of a database creates keys, for which it loads Prisma.
    await (await startService(bench)).stop()
    return await work(bench, load)
  } finally {
    await load.stop()
    await bench.remove()
  }
}

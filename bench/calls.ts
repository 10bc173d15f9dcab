import type { Asked } from './comparison.ts'
import type { Bench } from './database.ts'
import { ratioOf, spreadOf } from './figures.ts'
import { openCalls, SUBSCRIPTIONS } from './publish.ts'
import { textTable } from './text-table.ts'

/** The highest allowed ratio for publishing in process. */
const TARGET = 2
/** A fifth of the requests, as each of them stores an event. */
const SHARE = 5

/** Measures publishing in the process of the bench: `call-10` publishes to ten subscriptions. */
export async function benchCalls({ url }: Bench, { rounds, requests, connections }: Asked): Promise<string> {
  const calls = openCalls(url)
  const lines: string[][] = []
  try {
    for (const subscriptions of SUBSCRIPTIONS) {
      const measure = (way: 'bare' | 'service') => calls.measure(way, subscriptions, connections, requests / SHARE)
      for (const way of ['bare', 'service', 'bare', 'service'] as const) await measure(way)
      const [bare, service]: [number[], number[]] = [[], []]
      for (let round = 0; round < rounds; round++) {
        bare.push(await measure('bare'))
        service.push(await measure('service'))
      }
      const { median, least, most } = ratioOf(bare, service)
      lines.push([
        ...[`call-${subscriptions}`, spreadOf(bare).median.toFixed(0), spreadOf(service).median.toFixed(0)],
        ...[
          median.toFixed(2),
          `${least.toFixed(2)} – ${most.toFixed(2)}`,
          `${TARGET}${median > TARGET ? ' missed' : ''}`,
        ],
      ])
    }
  } finally {
    await calls.close()
  }
  return textTable(['in process', 'bare µs', 'service µs', 'ratio', 'least – most', 'target'], lines)
}

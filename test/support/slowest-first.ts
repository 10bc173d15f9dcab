import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

/**
 * Files of more than 20 s, the longest first, and beside it those that mostly wait: it holds latencies. Vitest begins with
 * the largest files, or with those that it remembers as slow, which a new clone does not: a short file that takes two
 * minutes would be the last, and run alone.
 */
export const slowest = [
  'long/soak',
  'long/attack/sign-in',
  'long/webhooks/timeouts',
  'long/attack/hostile-data',
  'long/storage/large',
  'long/attack/neighbours',
  'long/storage/two-servers',
  'long/memory',
  'long/raw/event-loop',
  'process/production/production',
  'process/housekeeping-nodes',
  'process/consumer',
  'process/drain',
  'process/oauth/pages-chromium',
  'process/browser-pages',
  'process/secrets',
  'process/rest',
  'process/oauth/example-chromium',
  'process/database-load',
  'process/topology-faults',
  'process/two-versions',
  'process/database-faults',
]

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rest = await super.sort(files)
    const named = slowest.map((name) => `/test/${name}.test.ts`)
    const first = named.flatMap((name) => rest.filter(({ moduleId }) => moduleId.endsWith(name)))
    return [...first, ...rest.filter((file) => !first.includes(file))]
  }
}

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
  'long/webhooks/outage',
  'long/webhooks/worker-load',
  'long/storage/kills',
  'long/backup',
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
  'process/migrate-beside',
  'process/end',
  'process/topology',
  'process/external',
  'process/redis/faults',
  'process/oauth/example',
]

/** Files of `npm test` that wait for seconds to pass: begun one after the other, beside files that need the processor. */
export const waiting = [
  'clients/first-party',
  'clients/sdk',
  'oauth/external-keys',
  'webhooks/send-hostile',
  'raw/protocol',
  'storage/erase',
  'storage/lock-order',
  'conformance/rate-limit',
  'oauth/external-outage',
  'prisma/execution',
  'oauth/revoked-key',
  'webhooks/send-connections',
  'oauth/signing-keys',
  'conformance/quizzes-concurrency',
  'conformance/subscriptions',
  'conformance/deliveries-retry',
  'conformance/events-races',
]

export class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rest = await super.sort(files)
    const first = among(slowest, rest)
    return spread(among(waiting, rest), [...first, ...rest.filter((file) => !first.includes(file))])
  }
}

/** The files that are named, in the order of their names. */
const among = (names: readonly string[], files: readonly TestSpecification[]) =>
  names.flatMap((name) => files.filter(({ moduleId }) => moduleId.endsWith(`/test/${name}.test.ts`)))

/** Puts `some` of the files at equal distances among the others of their project. */
function spread(some: readonly TestSpecification[], files: readonly TestSpecification[]): TestSpecification[] {
  const others = files.filter((file) => !some.includes(file))
  const [project] = some.map((file) => file.project)
  const from = others.findIndex((file) => file.project === project)
  const beside = others.filter((file) => file.project === project).length
  return some.reduceRight(
    (all, file, i) => all.toSpliced(from + Math.floor((i * beside) / some.length), 0, file),
    others,
  )
}

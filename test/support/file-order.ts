import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

/**
 * Files of more than 20 s, the longest first, and beside it those that mostly wait: it holds latencies. Vitest begins with
 * the largest files, or with those that it remembers as slow, which a new clone does not: a short file that takes two
 * minutes would be the last, and run alone.
 */
export const slowest = [
  'verify/soak/soak',
  'verify/floods/sign-in',
  'verify/floods/hostile-data',
  'verify/floods/costly-parameters',
  'verify/floods/costly-headers',
  'verify/floods/costly-procedures',
  'verify/floods/costly-forms',
  'verify/memory/import',
  'verify/floods/neighbours',
  'verify/database/two-servers',
  'verify/memory/memory',
  'verify/floods/event-loop',
  'verify/webhooks/workers',
  'verify/kills/storage',
  'verify/install/production/production',
  'verify/install/consumer',
  'verify/install/own-page',
  'verify/topology/drain',
  'verify/pages/pages-chromium',
  'verify/pages/browser-pages',
  'verify/figures/rest',
  'verify/figures/deliveries',
  'verify/pages/example-chromium',
  'verify/database/database-load',
  'verify/topology/topology-faults',
  'verify/install/two-versions',
  'verify/redis/processes',
  'process/documented-lines',
  'process/refusals',
  'process/examples',
  'process/addresses',
  'process/crash',
  'process/oauth/example',
  'process/database-faults',
  'process/external',
  'process/commands',
  'process/end',
]

/** Files of `npm test` that wait for seconds to pass: begun one after the other, beside files that need the processor. */
export const waiting = [
  'oauth/external-keys',
  'webhooks/send-hostile',
  'raw/protocol',
  'storage/erase',
  'storage/lock-order',
  'oauth/external-outage',
  'prisma/execution',
  'commands/migrate-beside',
  'oauth/signing-keys',
  'conformance/quizzes-idempotency',
  'conformance/subscriptions',
  'conformance/deliveries',
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

import { fileURLToPath } from 'node:url'
import type { TestProjectInlineConfiguration } from 'vitest/config'
import { defineConfig } from 'vitest/config'
import { FileOrder } from './test/support/file-order.ts'

const globalSetup = ['test/support/global-setup.ts']
const address = process.env.CONFORMANCE_ADDRESS
const setupFiles = process.env.SEED ? ['test/support/seeded.ts'] : []

/** Tests of the contract against the trial that runs at CONFORMANCE_ADDRESS on this machine, with the DATA_DIR that it has. */
const atAddress = (mode: string): TestProjectInlineConfiguration => ({
  extends: true,
  mode,
  resolve: {
    alias: [
      {
        find: /^(?:\.\.\/support|\.)\/world\.ts$/,
        replacement: fileURLToPath(new URL('test/support/remote-world.ts', import.meta.url)),
      },
    ],
  },
  test: {
    name: 'address',
    include: [
      'test/conformance/{authentication,endpoints,headers,me,me-events,quizzes,service,storage,webhook}.test.ts',
    ],
    globalSetup: ['test/support/address-setup.ts'],
    isolate: false,
    maxWorkers: 1,
  },
})

/** A test's folder decides its project: `npm test` runs unit and api, `.ci/run` process too, `npm run verify` the rest. */
export default defineConfig(({ mode }) => ({
  test: {
    // The only ones: no test, hook or poll has its own. A poll ends first, with the value that it saw last. In the mode `whole`
    // there are up to twenty times as many rounds (rounds.ts): 200,000 writes under kills took over 30 minutes beside two other
    // parts. Each part has its own limit.
    testTimeout: mode === 'whole' ? 2_700_000 : 300_000,
    hookTimeout: mode === 'whole' ? 1_200_000 : 300_000,
    expect: { poll: { timeout: mode === 'whole' ? 300_000 : 60_000 } },
    // Twice the cores of CI, as one of them waits (`waiting` in file-order.ts). A worker imports everything for itself, 2 s.
    maxWorkers: 4,
    // In the order of FileOrder or, with --mode shuffled, in one that SEED decides.
    sequence:
      mode === 'shuffled'
        ? { shuffle: { files: true }, seed: Number(process.env.SEED ?? Date.now()) }
        : { sequencer: FileOrder },
    setupFiles,
    // Transforming the service takes 3 s of the processor: once for all projects and runs of a clone.
    experimental: { fsModuleCache: true },
    // Projects do not inherit the mode, which test/support/rounds.ts reads.
    projects: address
      ? [atAddress(mode)]
      : [
          {
            extends: true,
            mode,
            test: {
              name: 'unit',
              include: ['test/unit/**/*.test.ts'],
              isolate: false,
              // As many as cores, as none of them waits: two more cost 5 s of the processor for their imports.
              maxWorkers: 2,
              sequence: { groupOrder: 0 },
              // Without database and network the longest takes 3 s, 23 s on a machine with fifteen times the load: a hang has a
              // name soon.
              testTimeout: mode === 'whole' ? 300_000 : 60_000,
              expect: { poll: { timeout: 30_000 } },
            },
          },
          {
            extends: true,
            mode,
            test: {
              name: 'api',
              include: ['test/**/*.test.ts'],
              exclude: ['test/{unit,process,verify}/**'],
              globalSetup,
              // Koa, oidc-provider and Prisma take a second to import: once a worker instead of once a file.
              isolate: false,
              sequence: { groupOrder: 1 },
            },
          },
          {
            extends: true,
            mode,
            test: {
              name: 'process',
              include: ['test/process/**/*.test.ts'],
              globalSetup,
              isolate: false,
              sequence: { groupOrder: 2 },
            },
          },
          {
            extends: true,
            mode,
            test: {
              name: 'verify',
              include: ['test/verify/**/*.test.ts'],
              globalSetup,
              // Each part names its workers (test/verify/parts.ts) in VITEST_MAX_WORKERS, which wins over all numbers here.
              sequence: { groupOrder: 3 },
            },
          },
        ],
  },
}))

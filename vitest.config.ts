import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/database.ts'],
    // More than there are cores: many tests wait for a process, a database or a clock.
    maxWorkers: 4,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What a busy machine was too slow for, or took a free port from, is tried once more, and the report says so; what
    // came out wrong is not.
    retry: {
      count: 1,
      condition: /timed out in \d+ms|Timeout \d+ms exceeded|After \d+ ms it is still|another process uses it/,
    },
  },
})

import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/database.ts'],
    // More than there are cores: many tests wait for a process, a database or a clock.
    maxWorkers: 4,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})

import { defineConfig } from 'vitest/config'

// Where a test belongs, its folder says; CONTRIBUTING.md has the rules. `npm test` runs unit and api, `npm run test:all` everything.
const globalSetup = ['test/support/global-setup.ts']

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], isolate: false } },
      {
        extends: true,
        test: {
          name: 'api',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{unit,process,long}/**'],
          globalSetup,
          isolate: false,
          maxWorkers: 4,
        },
      },
      { extends: true, test: { name: 'process', include: ['test/process/**/*.test.ts'], globalSetup } },
      { extends: true, test: { name: 'long', include: ['test/long/**/*.test.ts'], globalSetup } },
    ],
  },
})

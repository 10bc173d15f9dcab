// Reads the reports of several runs; fails when a test passed in none of them, and names it.
import { readFileSync } from 'node:fs'

const reports = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')))
const tests = reports.flatMap(({ testResults }) =>
  testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => ({ id: `${name.replace(/^.*\/test\//, '')} ${fullName}`, status })),
  ),
)
const passed = new Set(tests.filter(({ status }) => status === 'passed').map(({ id }) => id))
const skipped = [...new Set(tests.map(({ id }) => id))].filter((id) => !passed.has(id))
for (const id of skipped) process.stdout.write(`skipped: ${id}\n`)
process.stdout.write(`${passed.size} passed, 0 failed, ${skipped.length} skipped\n`)
process.exit(skipped.length === 0 ? 0 : 1)

// Lints each OpenAPI document of a directory by Redocly's strict rules: `node .ci/lint-documents.mjs DIRECTORY`. Prints each
// problem with its place and fails if there is one.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createConfig, lint } from '@redocly/openapi-core'

const directory = process.argv[2]
const config = await createConfig({ extends: ['recommended-strict'] })
const names = readdirSync(directory).filter((name) => name.endsWith('.json'))
if (names.length === 0) throw new Error(`${directory} has no documents.`)
let count = 0
for (const name of names) {
  for (const { ruleId, severity, message, location } of await lint({ ref: join(directory, name), config })) {
    count++
    process.stdout.write(`${name}${location[0]?.pointer ?? ''}: ${severity} ${ruleId}: ${message}\n`)
  }
}
process.stdout.write(`${names.length} documents linted, ${count} problems\n`)
process.exit(count === 0 ? 0 : 1)

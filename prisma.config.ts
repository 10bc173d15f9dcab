import { fileURLToPath } from 'node:url'
import { defineConfig } from 'prisma/config'
import { unusableParameter } from './prisma/address-parameters.ts'

// These commands do not run Prisma's native schema engine, but the CLI downloads it first; any existing file prevents that.
const withoutEngine = ['generate', 'validate', 'format', 'studio']
if (process.argv.some((word) => withoutEngine.includes(word))) {
  process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= fileURLToPath(import.meta.url)
}

const { DATABASE_URL = 'postgresql://localhost:5432/unset' } = process.env
const unusable = unusableParameter(DATABASE_URL)
if (unusable !== undefined) throw new Error(`DATABASE_URL is not ${unusable}.`)

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: DATABASE_URL },
})

import { fileURLToPath } from 'node:url'
import { defineConfig } from 'prisma/config'

// These commands do not run Prisma's native schema engine, but the CLI downloads it first; any existing file prevents that.
const withoutEngine = ['generate', 'validate', 'format', 'studio']
if (process.argv.some((word) => withoutEngine.includes(word))) {
  process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= fileURLToPath(import.meta.url)
}

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? 'postgresql://localhost:5432/unset' },
})

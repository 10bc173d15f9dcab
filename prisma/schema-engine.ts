import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import pg from 'pg'

/** The SQL that turns the database at `url` into what the schema says; empty when they agree. */
export async function sqlBetween(url: string, schemaFile: string): Promise<string> {
  const schema = { path: schemaFile, content: await readFile(schemaFile, 'utf8') }
  const { SchemaEngine } = await loadEngine()
  const pool = new CatalogPool({ connectionString: url, options: '-c timezone=UTC' })
  const adapter = new PrismaPg(pool)
  const engine = await SchemaEngine.new(
    { datamodels: [[schema.path, schema.content]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory(adapter),
  )
  try {
    const result = await engine.diff({
      from: { tag: 'schemaDatasource', files: [schema], configDir: dirname(schemaFile) },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    })
    return result.exitCode === 0 ? '' : (result.stdout ?? '')
  } finally {
    engine.free()
    await pool.end()
  }
}

/** PostgreSQL's catalogue has columns of the internal type "char" (18), which the adapter refuses: pass them on as text (25). */
class CatalogPool extends pg.Pool {
  override query = (async (...query: Parameters<pg.Pool['query']>) => {
    const result = (await super.query(...query)) as unknown as pg.QueryResult
    for (const field of result.fields) if (field.dataTypeID === 18) field.dataTypeID = 25
    return result
  }) as pg.Pool['query']
}

type Engine = typeof import('@prisma/schema-engine-wasm/schema_engine_bg')
let loaded: Promise<Engine> | undefined

/** Loaded by hand: the package's own entry imports the .wasm as an ES module, which Node 20 cannot. */
function loadEngine(): Promise<Engine> {
  loaded ??= (async () => {
    const engine = await import('@prisma/schema-engine-wasm/schema_engine_bg')
    const script = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')
    const bytes = await readFile(script.replace(/\.js$/, '.wasm'))
    const { exports } = (await wasm.instantiate(bytes, { './schema_engine_bg.js': engine })).instance
    const glue = engine as unknown as { __wbg_set_wasm(exports: object): void }
    glue.__wbg_set_wasm(exports)
    exports.__wbindgen_start?.()
    return engine
  })()
  return loaded
}

/** Node's types leave this global to the DOM's, which this project does not load. */
const { WebAssembly: wasm } = globalThis as unknown as {
  WebAssembly: {
    instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, () => void> } }>
  }
}

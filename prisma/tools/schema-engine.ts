import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils'
import pg from 'pg'

/** Returns '' when the database at `url` and the schema agree. */
export async function sqlBetween(url: string, schemaFile: string): Promise<string> {
  const schema = { path: schemaFile, content: await readFile(schemaFile, 'utf8') }
  const { SchemaEngine } = await loadEngine()
  const pool = new CatalogPool({ connectionString: url, options: '-c timezone=UTC' })
  const engine = await SchemaEngine.new(
    { datamodels: [[schema.path, schema.content]] },
    () => {},
    bindMigrationAwareSqlAdapterFactory(catalogAdapter(pool)),
  )
  try {
    const result = await engine.diff({
      from: { tag: 'schemaDatasource', files: [schema], configDir: dirname(schemaFile) },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: true,
      filters: { externalTables: ['public._functions'], externalEnums: [] },
    })
    return result.exitCode === 0 ? '' : (result.stdout ?? '')
  } finally {
    engine.free()
    await pool.end()
  }
}

/** Returns columns of the type "char" (18) as text: the adapter refuses them, and the engine reads them in the catalogue. */
class CatalogPool extends pg.Pool {
  readonly charColumns = new WeakMap<object, number[]>()

  override query = (async (...query: Parameters<pg.Pool['query']>) => {
    const result = (await super.query(...query)) as unknown as pg.QueryResult
    const columns = result.fields.flatMap((field, index) => (field.dataTypeID === 18 ? [index] : []))
    for (const index of columns) result.fields[index]!.dataTypeID = 25
    this.charColumns.set(result.rows, columns)
    return result
  }) as pg.Pool['query']
}

/** Gives those columns the type that the engine expects. */
function catalogAdapter(pool: CatalogPool): SqlMigrationAwareDriverAdapterFactory {
  const factory = new PrismaPg(pool)
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connectToShadowDb: () => factory.connectToShadowDb(),
    connect: async () => {
      const adapter = await factory.connect()
      const queryRaw = adapter.queryRaw.bind(adapter)
      adapter.queryRaw = async (query) => {
        const result = await queryRaw(query)
        for (const index of pool.charColumns.get(result.rows) ?? []) {
          result.columnTypes[index] = ColumnTypeEnum.Character
        }
        return result
      }
      return adapter
    },
  }
}

type Engine = typeof import('@prisma/schema-engine-wasm/schema_engine_bg')
let loaded: Promise<Engine> | undefined

/** Avoids the package's entry, which imports the .wasm as an ES module; Node 20 cannot load that. */
function loadEngine(): Promise<Engine> {
  loaded ??= (async () => {
    const engine = await import('@prisma/schema-engine-wasm/schema_engine_bg')
    const script = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')
    // The engine reports a panic here and then stops responding.
    Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: panic } })
    const bytes = await readFile(script.replace(/\.js$/, '.wasm'))
    const { exports } = (await wasm.instantiate(bytes, { './schema_engine_bg.js': engine })).instance
    const glue = engine as unknown as { __wbg_set_wasm(exports: object): void }
    glue.__wbg_set_wasm(exports)
    exports.__wbindgen_start?.()
    return engine
  })()
  return loaded
}

/** Typed only in the DOM library, which this project does not load. */
const { WebAssembly: wasm } = globalThis as unknown as {
  WebAssembly: {
    instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, () => void> } }>
  }
}

function panic(message: string): never {
  throw new Error(`Prisma's schema engine failed: ${message}`)
}

import { randomUUID } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startEmbedded } from '../embedded/start.ts'
import { migrate } from '../migrate.ts'
import { schemaDirectory } from '../migration-files.ts'
import { withChecks } from './checks.ts'
import { sqlBetween } from './schema-engine.ts'

/** Returns '' when migrations and schema agree. Creates and drops a database on the server at `url`. */
export async function difference(url: string): Promise<string> {
  const name = `migrations_${randomUUID()}`
  const scratch = new URL(url)
  scratch.pathname = `/${name}`
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`CREATE DATABASE "${name}" TEMPLATE template0`)
    await migrate(scratch.href)
    return await sqlBetween(scratch.href, join(schemaDirectory(), 'schema.prisma'))
  } finally {
    await client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`)
    await client.end()
  }
}

/** Adds the collation that Prisma's schema cannot express: text sorts by bytes. */
export function sortedByBytes(sql: string): string {
  const column = /((?:^ +|ADD COLUMN +|ALTER COLUMN )"\w+" (?:SET DATA TYPE )?TEXT(?:\[\])?)(?=[ ,;]|$)/gm
  return sql.replace(column, '$1 COLLATE "C"')
}

async function author(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { check: { type: 'boolean' }, url: { type: 'string' } },
    allowPositionals: true,
  })
  const [name] = positionals
  if (!values.check && !/^[a-z0-9_]+$/.test(name ?? '')) {
    say(
      'npx tsx prisma/tools/author-migration.ts <name_in_lower_case> | --check  [--url <PostgreSQL server for a temporary database>]',
    )
    return 2
  }
  const sql = values.url ? await difference(values.url) : await withServer(difference)
  if (sql === '') say('The migrations match the schema.')
  else if (values.check) say(`The migrations do not match the schema. They lack:\n\n${sql}`)
  else {
    const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
    const directory = join(schemaDirectory(), 'migrations', `${stamp}_${name}`)
    await mkdir(directory)
    await writeFile(join(directory, 'migration.sql'), withChecks(sortedByBytes(sql)))
    say(`Review and complete ${relative('.', join(directory, 'migration.sql'))}.`)
  }
  return values.check && sql !== '' ? 1 : 0
}

async function withServer<T>(use: (url: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'migration-'))
  try {
    await chmod(directory, 0o755) // when this process is root, another user runs the server
    const server = await startEmbedded(directory)
    try {
      return await use(server.superuserUrl)
    } finally {
      await server.stop()
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await author()

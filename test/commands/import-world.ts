import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ask } from '../support/ask.ts'
import { migratedDatabase } from '../support/databases.ts'
import { keepRows } from '../support/kept-rows.ts'
import { run } from './run.ts'

export const ndjson = (...records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')

export const person = (id: string, more: object = {}) => ({
  id,
  firstName: id,
  lastName: 'Berger',
  email: `${id}@example.org`,
  ...more,
})

export const clubs = ndjson(
  { id: 'riverside', kind: 'club', name: 'Riverside' },
  { id: 'northgate', kind: 'club', name: 'Northgate' },
)

/** One for each worker process of Vitest, which runs one test at a time; dropped after the run. */
let empty: Promise<{ url: string; reset: () => Promise<void> }> | undefined

async function openOne() {
  const url = await migratedDatabase(() => {})
  return { url, reset: await keepRows(url) }
}

/** A migrated database without rows, and a directory for files, which ends with the test. */
export async function importWorld() {
  empty ??= openOne()
  const { url, reset } = await empty
  await reset()
  const env = { DATABASE_URL: url }
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-files-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const toPath = (name: string) => join(directory, name)
  return {
    env,
    directory,
    toPath,
    /** Writes files; a path in what is printed is its name alone. */
    write: (files: Record<string, string | Buffer>) =>
      Promise.all(Object.entries(files).map(([name, content]) => writeFile(toPath(name), content))),
    async run(args: string[], input: Parameters<typeof run>[2] = {}) {
      const known = args.map((arg) => (/\.\w+$/.test(arg) ? toPath(arg) : arg))
      const { code, stdout, stderr } = await run(['import', ...known], env, input)
      return { code, stdout, stderr: stderr.replaceAll(`${directory}/`, '') }
    },
    ask: (sql: string) => ask(env.DATABASE_URL, sql),
    async column(sql: string): Promise<unknown[]> {
      return (await ask(env.DATABASE_URL, sql)).map((row) => Object.values(row)[0])
    },
  }
}

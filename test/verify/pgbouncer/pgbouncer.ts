import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { freePort, until } from '../../process/service.ts'
import { query } from '../../support/databases.ts'

/** A root of Debian 13 with PgBouncer 1.24, made by `.ci/debian13`. */
const root = process.env.TEST_DEBIAN13

/** Part of the title of skipped tests. */
export const skipReason = root ? '' : ' (skipped: TEST_DEBIAN13 names no root made by .ci/debian13)'

export const hasPgBouncer = root !== undefined

/** A PgBouncer in front of a database's server, in transaction mode; it ends with the test. */
export async function startPgBouncer(databaseUrl: string, connections: number) {
  const port = await freePort()
  const script = fileURLToPath(new URL('../../../.ci/pgbouncer', import.meta.url))
  const child = spawn(script, [root!, String(port), databaseUrl], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, PGBOUNCER_POOL_SIZE: String(connections) },
  })
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill()
    await ended
  })
  const url = Object.assign(new URL(databaseUrl), { host: `127.0.0.1:${port}` })
  const admin = Object.assign(new URL(url), { pathname: '/pgbouncer' })
  // It refuses connections that set a statement_timeout.
  const run = (command: string) => query(url.href, command, { limited: true })
  const console = (command: string) => query(admin.href, command, { limited: true })
  const answers = () => console('SHOW VERSION').catch(() => undefined)
  await until(answers, (rows) => rows !== undefined || child.exitCode !== null)
  if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${said}`)
  return { url: url.href, run, console }
}

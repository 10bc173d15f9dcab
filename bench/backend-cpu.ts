import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

const INTERVAL_MS = 100
const BACKENDS = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type LIKE '%backend'`

/**
 * CPU time in ns of each of the server processes that serve the database of `client`, but its own. Only Linux tells it, and
 * only of a server on this machine: elsewhere it is 0.
 */
export async function backendTimes(client: pg.Client): Promise<Map<number, number>> {
  const { rows } = await client.query<{ pid: number }>(BACKENDS)
  const times = rows.map(async ({ pid }) => {
    const [ns] = (await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0')).split(' ')
    return [pid, Number(ns)] as const
  })
  return new Map(await Promise.all(times))
}

/**
 * Runs `work`; resolves with its result and the CPU time of the database's server processes in seconds, short by what they
 * take in their last tenth of a second.
 */
export async function withBackendCpu<Result>(url: string, work: () => Promise<Result>) {
  const client = new pg.Client(url)
  await client.connect()
  const times = new Map<number, number>()
  let done = false
  const watch = async () => {
    while (!done) {
      for (const [pid, ns] of await backendTimes(client)) times.set(pid, Math.max(ns, times.get(pid) ?? 0))
      await pause(INTERVAL_MS)
    }
  }
  const watching = watch().finally(() => client.end())
  const result = await work().finally(() => {
    done = true
  })
  await watching
  return { result, seconds: [...times.values()].reduce((sum, ns) => sum + ns, 0) / 1e9 }
}

import { readdir, readFile } from 'node:fs/promises'
import type pg from 'pg'

/** CPU time of processes so far in ns, by pid. */
export type Times = ReadonlyMap<number, number>

/** The times of all threads of each process. Only Linux reports them, and only on this machine: elsewhere they are 0. */
export async function processTimes(pids: readonly number[]): Promise<Times> {
  const times = pids.map(async (pid) => {
    const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
    const own = await Promise.all(threads.map((thread) => threadTime(`/proc/${pid}/task/${thread}/schedstat`)))
    return [pid, own.reduce((sum, ns) => sum + ns, 0)] as const
  })
  return new Map(await Promise.all(times))
}

const threadTime = async (path: string) => Number((await readFile(path, 'utf8').catch(() => '0')).split(' ')[0])

/** The times of the server processes that serve `client`'s database, except its own. */
export async function backendTimes(client: pg.Client): Promise<Times> {
  const { rows } = await client.query<{ pid: number }>(`SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type LIKE '%backend'`)
  return processTimes(rows.map(({ pid }) => pid))
}

/** Returns what `work` results in, and the CPU time in µs that the processes of each part used meanwhile. */
export async function usedDuring<Part extends string, Result>(
  parts: Record<Part, () => Promise<Times>>,
  work: () => Promise<Result>,
): Promise<{ result: Result; used: Record<Part, number> }> {
  const readAll = () =>
    Promise.all((Object.keys(parts) as Part[]).map(async (part) => [part, await parts[part]()] as const))
  const before = new Map(await readAll())
  const result = await work()
  const used = (await readAll()).map(([part, times]) => {
    const ns = [...times].reduce((sum, [pid, now]) => sum + now - (before.get(part)!.get(pid) ?? 0), 0)
    return [part, ns / 1000]
  })
  return { result, used: Object.fromEntries(used) as Record<Part, number> }
}

import type { Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './account.ts'
import type { Cluster } from './cluster.ts'
import { isAlive } from './cluster.ts'
import { readOwn, removeOwn } from './own-files.ts'

/** A running server, as it describes itself in postmaster.pid. */
export interface RunningServer {
  pid: number
  /** 0 during start-up. */
  port: number
  status: string
}

const pidFile = ({ data }: Cluster) => join(data, 'postmaster.pid')

/** Undefined when no server runs on the cluster's data. Removes the file of a killed server. */
export async function findRunningServer(cluster: Cluster): Promise<RunningServer | undefined> {
  const file = pidFile(cluster)
  const text = await readOwn(cluster, file).catch(() => undefined)
  if (text === undefined) return undefined
  const lines = text.split('\n').map((line) => line.trim())
  const pid = Number(lines[0])
  if (pid && isAlive(pid)) {
    if (await isServer(pid, cluster.data)) return { pid, port: Number(lines[3]), status: lines[7] ?? 'starting' }
    // PostgreSQL would mistake the program that has the pid now for the killed server. In containers that happens each time.
    await removeUnchanged(cluster, text)
  } else if (text === '' && Date.now() - ((await stat(file).catch(() => undefined))?.mtimeMs ?? 0) > 5_000) {
    await removeUnchanged(cluster, text) // left empty by a power failure
  }
  return undefined
}

export const removePidFile = (cluster: Cluster) => removeOwn(cluster, pidFile(cluster))

async function removeUnchanged(cluster: Cluster, text: string): Promise<void> {
  if ((await readOwn(cluster, pidFile(cluster)).catch(() => undefined)) === text) await removePidFile(cluster)
}

async function isServer(pid: number, data: string): Promise<boolean> {
  if (process.platform === 'win32') return true
  if (process.platform !== 'linux') {
    const { output } = await run('/bin/ps', ['-o', 'comm=', '-p', `${pid}`], { account: undefined, cwd: '/' })
    return output.includes('postgres')
  }
  // Empty for a zombie: a killed server whose parent has not collected it.
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => 'postgres')
  const directory = await stat(`/proc/${pid}/cwd`).catch(() => undefined) // hidden from root in some containers
  return command.split('\0')[0]!.endsWith('postgres') && (!directory || isSameFile(directory, await stat(data)))
}

export function isSameFile(one: Stats | undefined, other: Stats): boolean {
  return one?.ino === other.ino && one.dev === other.dev
}

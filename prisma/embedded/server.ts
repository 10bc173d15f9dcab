import type { Stats } from 'node:fs'
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Outcome } from './account.ts'
import { run } from './account.ts'
import { reasonIn, runBinary } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { choosePort, isAlive } from './cluster.ts'

/** A connection that holds a lock as long as this process uses the server, so that no other process stops it. */
export interface Presence {
  client: pg.Client
  port: number
}

const PRESENCE_LOCK = 5_210_631

/** Adopts the cluster's server or starts one, while other processes may be starting, stopping or killing it. */
export async function attend(cluster: Cluster): Promise<Presence> {
  const start = performance.now()
  for (;;) {
    const found = await recorded(cluster)
    const result = found ? await adopt(cluster, found) : await launch(cluster)
    if (typeof result === 'object') return result
    // Recovery after a crash may take its time; all else is over soon.
    const seconds = found?.status === 'starting' ? 60 : 10
    if (performance.now() - start > seconds * 1000) {
      throw new Error(`The embedded PostgreSQL in ${cluster.home} does not start: ${result}; see the file "log" there.`)
    }
    if (result !== '') await pause(50)
  }
}

/** Stops the server, unless another process or any other client uses it. */
export async function leave(cluster: Cluster, { client }: Presence): Promise<void> {
  try {
    if (await isDeserted(client)) await stop(cluster)
  } finally {
    await client.end()
  }
}

async function stop(cluster: Cluster): Promise<void> {
  const running = (await recorded(cluster))?.pid
  const { code, output } = await control(cluster, ['stop', '-W', '-s', '-m', 'fast'])
  if (code !== 0 && (await recorded(cluster))) {
    throw new Error(`The embedded PostgreSQL in ${cluster.home} does not stop: ${reasonIn(output)}`)
  }
  // pg_ctl's own waiting takes the server that another process starts now for the old one.
  for (let attempt = 0; attempt < 500 && (await recorded(cluster))?.pid === running; attempt++) await pause(20)
}

/** When it is, newcomers wait for our lock: either we go away, or the server does and they start it again. */
async function isDeserted(client: pg.Client): Promise<boolean> {
  try {
    await client.query('SELECT pg_advisory_unlock_shared($1)', [PRESENCE_LOCK])
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS alone', [PRESENCE_LOCK])
    if (!rows[0].alone) return false
    // A connection that was closed just now is still listed for a moment.
    for (let attempt = 0; attempt < 10; attempt++) {
      const { rows } = await client.query(
        `SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
      )
      if (rows.length === 0) return true
      await pause(50)
    }
    return false
  } catch {
    return false // the server is gone already
  }
}

interface Recorded {
  pid: number
  port: number
  status: string
}

/** What PostgreSQL wrote of the server that runs on the data; undefined when none does. */
async function recorded({ data }: Cluster): Promise<Recorded | undefined> {
  const file = join(data, 'postmaster.pid')
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const lines = text.split('\n').map((line) => line.trim())
  const pid = Number(lines[0])
  if (pid && isAlive(pid)) {
    if (await isServer(pid, data)) return { pid, port: Number(lines[3]), status: lines[7] ?? 'starting' }
    await discard(file, text)
  } else if (text === '' && Date.now() - ((await stat(file).catch(() => undefined))?.mtimeMs ?? 0) > 5_000) {
    await discard(file, text) // a power failure left it empty
  }
  return undefined
}

/** PostgreSQL takes a killed server's number, given to another program since (each time in containers), for that server. */
async function discard(file: string, text: string): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) await rm(file, { force: true })
}

async function isServer(pid: number, data: string): Promise<boolean> {
  if (process.platform === 'win32') return true
  if (process.platform !== 'linux') {
    const { output } = await run('/bin/ps', ['-o', 'comm=', '-p', `${pid}`], { account: undefined, cwd: '/' })
    return output.includes('postgres')
  }
  // A zombie's is empty: a killed server whose parent does not look after it.
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => 'postgres')
  const works = await stat(`/proc/${pid}/cwd`).catch(() => undefined) // hidden from root in some containers
  return command.split('\0')[0]!.endsWith('postgres') && (!works || isSame(works, await stat(data)))
}

function isSame(one: Stats | undefined, other: Stats): boolean {
  return one?.ino === other.ino && one.dev === other.dev
}

async function adopt(cluster: Cluster, { pid, port, status }: Recorded): Promise<Presence | string> {
  if (!port) return `it is ${status}`
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    password: cluster.password,
    database: 'postgres',
    ssl: false,
    options: '-c timezone=UTC',
    connectionTimeoutMillis: 5_000,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory')
    const [theirs, ours] = await Promise.all([stat(rows[0]!.data_directory).catch(() => undefined), stat(cluster.data)])
    if (isSame(theirs, ours)) {
      await client.query('SELECT pg_advisory_lock_shared($1)', [PRESENCE_LOCK])
      return { client, port }
    }
    // A copy of a directory in use names the original's server; a moved one is still that server's.
    if (theirs) await rm(join(cluster.data, 'postmaster.pid'), { force: true })
    await client.end()
    return `process ${pid} runs it as ${rows[0]!.data_directory}`
  } catch (error) {
    void client.end().catch(() => {})
    return (error as Error).message
  }
}

async function launch(cluster: Cluster): Promise<string> {
  const port = await choosePort(cluster)
  const log = join(cluster.home, 'log')
  let before = (await stat(log).catch(() => undefined))?.size ?? 0
  if (before > 1_000_000) {
    await rm(log)
    before = 0
  }
  // Its log is for what befalls the server; what statements fail at, and their values, the service knows.
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'timezone=UTC', 'log_timezone=UTC']
  settings.push('log_min_messages=log', 'log_checkpoints=off')
  const options = [`-p ${port}`, ...settings.map((setting) => `-c ${setting}`)].join(' ')
  const { code, output } = await control(cluster, ['start', '-w', '-s', '-l', 'log', '-o', options])
  if (code === 0) return ''
  const said = (await readFile(log).catch(() => Buffer.alloc(0))).subarray(before).toString()
  const reason = reasonIn(said || output)
  if (/already exists|in use|is empty|invalid data in PID file/.test(said + output)) return reason // of another starter
  throw new Error(`The embedded PostgreSQL in ${cluster.home} does not start: ${reason}`)
}

function control({ home, binaries, account }: Cluster, args: string[]): Promise<Outcome> {
  return runBinary(binaries, 'pg_ctl', [...args, '-D', 'data'], { account, cwd: home })
}

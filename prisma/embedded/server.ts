import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Outcome } from './account.ts'
import { reasonIn, runBinary } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { choosePort } from './cluster.ts'
import { readOwn, removeOwn } from './own-files.ts'
import type { RunningServer } from './pid-file.ts'
import { findRunningServer, isSameFile, removePidFile } from './pid-file.ts'

/** A connection whose shared advisory lock keeps other processes from stopping the server while this one uses it. */
export interface ServerLease {
  client: pg.Client
  port: number
}

const LEASE_LOCK = 5_210_631

/**
 * Connects to the cluster's server, or starts one, while other processes may start, stop or kill it. Throws after 10 s, or after
 * 60 s of crash recovery. A server that it starts listens on `port`, by default on one that is free.
 */
export async function acquireServer(cluster: Cluster, port?: number): Promise<ServerLease> {
  const start = performance.now()
  for (;;) {
    const running = await findRunningServer(cluster)
    const result = running
      ? await connect(cluster, running)
      : await startServer(cluster, port ?? (await choosePort(cluster)))
    if (typeof result === 'object') return result
    const seconds = running?.status === 'starting' ? 60 : 10
    if (performance.now() - start > seconds * 1000) {
      throw new Error(`The embedded PostgreSQL in ${cluster.home} does not start: ${result}; see the file "log" there.`)
    }
    if (result !== '') await pause(50)
  }
}

/** Stops the server, unless another process or any other client uses it. */
export async function releaseServer(cluster: Cluster, { client }: ServerLease): Promise<void> {
  try {
    if (await hasNoOtherClients(client)) await stopServer(cluster)
  } finally {
    await client.end()
  }
}

async function stopServer(cluster: Cluster): Promise<void> {
  const running = (await findRunningServer(cluster))?.pid
  const { code, output } = await control(cluster, ['stop', '-W', '-s', '-m', 'fast'])
  if (code !== 0 && (await findRunningServer(cluster))) {
    throw new Error(`The embedded PostgreSQL in ${cluster.home} does not stop: ${reasonIn(output)}`)
  }
  // pg_ctl's own wait mistakes a server that another process starts meanwhile for the old one.
  for (let attempt = 0; attempt < 500 && (await findRunningServer(cluster))?.pid === running; attempt++) await pause(20)
}

/**
 * A true result stays true: the exclusive lock makes new clients wait until this process leaves, or until the server stops and
 * they restart it.
 */
async function hasNoOtherClients(client: pg.Client): Promise<boolean> {
  try {
    await client.query('SELECT pg_advisory_unlock_shared($1)', [LEASE_LOCK])
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS alone', [LEASE_LOCK])
    if (!rows[0].alone) return false
    // A connection that has just been closed is still listed for a moment.
    for (let attempt = 0; attempt < 10; attempt++) {
      const { rows } = await client.query(
        `SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
      )
      if (rows.length === 0) return true
      await pause(50)
    }
    return false
  } catch {
    return false // the server has stopped already
  }
}

/** Returns a lease, or the reason to try again. */
async function connect(cluster: Cluster, { pid, port, status }: RunningServer): Promise<ServerLease | string> {
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
    if (isSameFile(theirs, ours)) {
      await client.query('SELECT pg_advisory_lock_shared($1)', [LEASE_LOCK])
      return { client, port }
    }
    // The pid file of a copied directory names the original's server. A moved directory still has its server.
    if (theirs) await removePidFile(cluster)
    await client.end()
    return `process ${pid} runs it as ${rows[0]!.data_directory}`
  } catch (error) {
    void client.end().catch(() => {})
    return (error as Error).message
  }
}

/** Returns '' when the server has started, or the reason to try again. Throws when it cannot start. */
async function startServer(cluster: Cluster, port: number): Promise<string> {
  const log = join(cluster.home, 'log')
  let logSize = (await stat(log).catch(() => undefined))?.size ?? 0
  if (logSize > 1_000_000) {
    await removeOwn(cluster, log)
    logSize = 0
  }
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'timezone=UTC', 'log_timezone=UTC']
  // Failed statements and their values must not reach the log; the service reports them.
  settings.push('log_min_messages=log', 'log_checkpoints=off')
  const options = [`-p ${port}`, ...settings.map((setting) => `-c ${setting}`)].join(' ')
  const { code, output } = await control(cluster, ['start', '-w', '-s', '-l', 'log', '-o', options])
  if (code === 0) return ''
  const logged = Buffer.from(await readOwn(cluster, log).catch(() => ''))
    .subarray(logSize)
    .toString()
  const reason = reasonIn(logged || output)
  const isStartedElsewhere = /already exists|in use|is empty|invalid data in PID file/.test(logged + output)
  if (isStartedElsewhere) return reason
  throw new Error(`The embedded PostgreSQL in ${cluster.home} does not start: ${reason}`)
}

function control({ home, binaries, account }: Cluster, args: string[]): Promise<Outcome> {
  return runBinary(binaries, 'pg_ctl', [...args, '-D', 'data'], { account, cwd: home })
}

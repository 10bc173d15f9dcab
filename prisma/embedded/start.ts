import { join, resolve } from 'node:path'
import pg from 'pg'
import { findBinaries, usableBinaries } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { openCluster } from './cluster.ts'
import { choosePlace } from './location.ts'
import type { Presence } from './server.ts'
import { attend, leave } from './server.ts'

export interface EmbeddedServer {
  url: string
  /** Where its data are. */
  directory: string
  /** What whoever runs it should be told. */
  notice?: string
  /** Close your own connections first: only a server that nobody else uses is stopped. */
  stop(): Promise<void>
}

const DATABASE = 'member_apps'

/** PostgreSQL on the data in `dataDir`: the server that runs there already, or a new one. */
export async function startEmbedded(dataDir: string): Promise<EmbeddedServer> {
  const wanted = resolve(dataDir)
  try {
    const found = await findBinaries()
    const place = await choosePlace(wanted)
    const binaries = await usableBinaries(found, place.account, place.base)
    const cluster = await openCluster(join(place.base, 'postgres'), binaries, place.account)
    const copied = binaries.native !== found.native && `PostgreSQL's programs were copied to ${binaries.native}.`
    const notice = [place.notice, copied].filter(Boolean).join(' ')
    const presence = await attend(cluster)
    await createDatabase(presence.client)
    return {
      url: `postgresql://postgres:${cluster.password}@127.0.0.1:${presence.port}/${DATABASE}`,
      directory: cluster.home,
      ...(notice && { notice }),
      stop: keepRunning(cluster, presence),
    }
  } catch (error) {
    throw inWords(error as NodeJS.ErrnoException, wanted)
  }
}

/** Should the server be killed, it is started again at once. Returns what ends that. */
function keepRunning(cluster: Cluster, first: Presence): () => Promise<void> {
  let current = Promise.resolve(first)
  let stopped: Promise<void> | undefined
  const watch = (presence: Presence): Presence => {
    presence.client.once('end', () => {
      if (stopped) return
      current = attend(cluster).then(watch)
      current.catch(() => {}) // the service says at each request that its database is gone
    })
    return presence
  }
  watch(first)
  return () => {
    stopped ??= current.then(
      (presence) => leave(cluster, presence),
      () => {},
    )
    return stopped
  }
}

async function createDatabase(client: pg.Client): Promise<void> {
  const { rows } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE])
  if (rows.length > 0) return
  await client.query(`CREATE DATABASE "${DATABASE}"`).catch((error) => {
    // Another process was faster.
    if (!(error instanceof pg.DatabaseError && ['42P04', '23505'].includes(error.code ?? ''))) throw error
  })
}

const REASONS: Record<string, string> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EEXIST: 'that is a file',
  ENOTDIR: 'part of the path is a file',
  ENAMETOOLONG: 'the path is too long',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
}

/** Faults of the file system are those of the directory that was named. */
function inWords(error: NodeJS.ErrnoException, dataDir: string): Error {
  if (!error.syscall || !error.path) return error
  const reason = REASONS[error.code ?? ''] ?? error.message
  return new Error(`The data directory ${dataDir} cannot be used: ${reason}.`, { cause: error })
}

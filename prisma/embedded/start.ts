import { join, resolve } from 'node:path'
import { findBinaries, usableBinaries } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { openCluster } from './cluster.ts'
import { createDatabase } from './database.ts'
import { choosePlace } from './location.ts'
import type { ServerLease } from './server.ts'
import { acquireServer, releaseServer } from './server.ts'

export interface EmbeddedServer {
  url: string
  superuserUrl: string
  directory: string
  notice?: string
  /** Stops the server unless other clients use it; close your own connections first. */
  stop(): Promise<void>
}

/** Starts PostgreSQL on the data in `dataDir`, or joins the server that runs there. Throws when neither is possible. */
export async function startEmbedded(dataDir: string): Promise<EmbeddedServer> {
  const wanted = resolve(dataDir)
  try {
    const found = await findBinaries()
    const place = await choosePlace(wanted)
    const binaries = await usableBinaries(found, place.account, place.base)
    const cluster = await openCluster(join(place.base, 'postgres'), binaries, place.account)
    const copied = binaries.native !== found.native && `PostgreSQL's programs were copied to ${binaries.native}.`
    const notice = [place.notice, copied].filter(Boolean).join(' ')
    const lease = await acquireServer(cluster)
    const server = `127.0.0.1:${lease.port}`
    const { owner, password, database } = await createDatabase(lease.client, cluster.password)
    return {
      url: `postgresql://${owner}:${password}@${server}/${database}`,
      superuserUrl: `postgresql://postgres:${cluster.password}@${server}/${database}`,
      directory: cluster.home,
      ...(notice && { notice }),
      stop: keepRunning(cluster, lease),
    }
  } catch (error) {
    throw withReason(error as NodeJS.ErrnoException, wanted)
  }
}

function keepRunning(cluster: Cluster, first: ServerLease): () => Promise<void> {
  let current = Promise.resolve(first)
  let stopped: Promise<void> | undefined
  const watch = (lease: ServerLease): ServerLease => {
    lease.client.once('end', () => {
      if (stopped) return
      current = acquireServer(cluster).then(watch)
      current.catch(() => {}) // every request reports the missing database
    })
    return lease
  }
  watch(first)
  return () => {
    stopped ??= current.then(
      (lease) => releaseServer(cluster, lease),
      () => {},
    )
    return stopped
  }
}

const REASONS: Record<string, string> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EEXIST: 'that is a file',
  ENOTDIR: 'part of the path is a file',
  ELOOP: 'that is a link',
  ENAMETOOLONG: 'the path is too long',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
}

function withReason(error: NodeJS.ErrnoException, dataDir: string): Error {
  if (!error.syscall || !error.path) return error
  const reason = REASONS[error.code ?? ''] ?? error.message
  return new Error(`The data directory ${dataDir} cannot be used: ${reason}.`, { cause: error })
}

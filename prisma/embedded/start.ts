import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
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

/** Between attempts to restart a server: what keeps it from starting, such as a full disk, may end by itself. */
const RESTART_MS = 1_000

/**
 * Starts PostgreSQL on the data in `dataDir`, or joins the server that runs there. Throws when neither is possible. A server that
 * ends is restarted; `failed` gets the error of the first attempt that fails, and more follow until one succeeds.
 */
export async function startEmbedded(
  dataDir: string,
  failed: (error: Error) => void = () => {},
): Promise<EmbeddedServer> {
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
      stop: keepRunning(cluster, lease, (error) => failed(withReason(error, wanted))),
    }
  } catch (error) {
    throw withReason(error as NodeJS.ErrnoException, wanted)
  }
}

function keepRunning(cluster: Cluster, first: ServerLease, failed: (error: Error) => void): () => Promise<void> {
  const stopping = new AbortController()
  let current = Promise.resolve(first)
  let stopped: Promise<void> | undefined
  const watch = (lease: ServerLease): ServerLease => {
    lease.client.once('end', () => {
      if (!stopped) current = restart()
    })
    return lease
  }
  const restart = async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        // Clients have the address of the first.
        return watch(await acquireServer(cluster, first.port))
      } catch (error) {
        if (attempt === 1) failed(error as Error)
        await pause(RESTART_MS, undefined, { signal: stopping.signal })
      }
    }
  }
  watch(first)
  return () => {
    stopping.abort()
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

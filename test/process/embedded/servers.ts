import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { EmbeddedServer } from '../../../prisma/embedded/start.ts'
import { startEmbedded } from '../../../prisma/embedded/start.ts'
import { copyCluster } from '../../support/cluster-template.ts'
import { pgClient } from '../../support/pg-client.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

export const isRoot = process.getuid?.() === 0

/** A directory for one test with a cluster, which a start would only create otherwise. */
export async function clusterDirectory(): Promise<string> {
  const directory = await temporaryDirectory()
  await copyCluster(directory)
  return directory
}

/** The same, in which a server has run. */
export async function usedDirectory(): Promise<string> {
  const directory = await clusterDirectory()
  await (await started(directory)).stop()
  return directory
}

export async function started(directory: string): Promise<EmbeddedServer> {
  const server = await startEmbedded(directory)
  onTestFinished(() => server.stop())
  return server
}

export interface OtherProcess {
  url: string
  end(): Promise<void>
  kill(): Promise<void>
}

/** The same in a process of its own. */
export async function startedElsewhere(directory: string): Promise<OtherProcess> {
  const program = fileURLToPath(new URL('other-process.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', program, directory], { stdio: ['pipe', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  const end = async () => {
    child.stdin.end()
    await closed
  }
  onTestFinished(end)
  const [url] = await Promise.race([once(createInterface(child.stdout), 'line'), closed.then(() => [''])])
  const kill = async () => {
    child.kill('SIGKILL')
    await closed
  }
  return { url, end, kill }
}

export async function query(url: string, sql: string): Promise<unknown[]> {
  const client = pgClient({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' })
    return rows.flat()
  } finally {
    await client.end()
  }
}

/** The number of the server's process; 0 when none runs. */
export async function readPid(directory: string): Promise<number> {
  const file = join(directory, 'postgres', 'data', 'postmaster.pid')
  return Number.parseInt(await readFile(file, 'utf8').catch(() => '0'), 10)
}

import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import pg from 'pg'
import { pinned } from '../process.ts'

/** What a measurement ran on and with, in a few sentences. */
export async function machineWords(url: string): Promise<string> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<{ version: string }>('SHOW server_version').finally(() => client.end())
  const [version] = Object.values(rows[0]!)
  const model = cpus()[0]?.model.trim() || 'unknown'
  const memory = Math.round(totalmem() / 2 ** 30)
  return [
    `${availableParallelism()} cores (${model}), ${memory} GB of memory, Node ${process.versions.node},`,
    `PostgreSQL ${version!.split(' ')[0]}; ${pinned}.`,
    `Load average before the first round: ${loadavg()[0]!.toFixed(1)}.`,
  ].join(' ')
}

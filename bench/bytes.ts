import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:http'
import pg from 'pg'
import { runSql } from './data/database.ts'
import type { LoadProcess, Request } from './load/process.ts'
import { buildRequests } from './load/requests.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { startService } from './servers/start.ts'
import type { Table } from './table.ts'
import { withLoad } from './with-load.ts'

const OPERATIONS = ['get', 'put', 'list', 'profile', 'events', 'token-refresh']
const REQUESTS = 2_000
/** The first requests of the process make caches, and connections. */
const WARM_UP = 200

/** Bytes of a request: of its head and body, of the response's, and that PostgreSQL writes to its log. */
export const benchBytes = (): Promise<Table> =>
  withLoad(async (bench, load) => {
    const service = await startService(bench)
    const client = new pg.Client(bench.url)
    try {
      await client.connect()
      const rows: string[][] = []
      for (const name of OPERATIONS) {
        const refill = tokenRoutes[name]?.refill
        if (refill) await runSql(bench.url, refill)
        const set = buildRequests(bench, name)
        await load.prepare(set)
        const log = await logBytes(client, load, { set: name, port: service.port, connections: 8 })
        if (refill) await runSql(bench.url, refill)
        rows.push([name, ...(await recordBytes(service.port, set.requests)), log.toFixed(0)])
      }
      return { columns: ['operation', 'request', 'response', "PostgreSQL's log"], rows }
    } finally {
      await client.end()
      await service.stop()
    }
  })

/** After a checkpoint a page's first change logs the whole page: the warm-up has made these. */
async function logBytes(client: pg.Client, load: LoadProcess, to: { set: string; port: number; connections: number }) {
  await client.query('CHECKPOINT')
  await load.send({ ...to, count: WARM_UP })
  const read = async () => {
    const { rows } = await client.query<{ bytes: number }>(
      `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS bytes`,
    )
    return rows[0]!.bytes
  }
  const before = await read()
  await load.send({ ...to, count: REQUESTS })
  return ((await read()) - before) / REQUESTS
}

/** The second request of a connection is recorded, as most are not the first. */
async function recordBytes(port: number, [first, second]: readonly Request[]): Promise<[string, string]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const send = async ({ method, path, headers, body }: Request) => {
    const call = request({ host: '127.0.0.1', port, agent, method, path, headers })
    const answered = once(call, 'response')
    call.end(body)
    const [response] = (await answered) as [IncomingMessage]
    const { socket } = response
    await once(response.resume(), 'end')
    return [socket.bytesWritten, socket.bytesRead] as const
  }
  const before = await send(first!)
  const after = await send(second!)
  agent.destroy()
  return [String(after[0] - before[0]), String(after[1] - before[1])]
}

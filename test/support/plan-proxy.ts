import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { query } from './databases.ts'

interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Node[]
}

/** A scan of a plan, and how many rows it read. */
export interface Scan {
  statement: string
  node: string
  table: string
  rows: number
}

/** `auto_explain` in every new session of a database, which sends its plans to the client. For a superuser. */
const settings = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_format': 'json',
  client_min_messages: 'log',
  // Plans are not for the server's log: LOG comes before FATAL there.
  log_min_messages: 'fatal',
}

/** A proxy between the service and its database that reads the plans of all statements. */
export async function planProxy(url: string) {
  const target = new URL(url)
  for (const [name, value] of Object.entries(settings)) {
    await query(url, `ALTER DATABASE "${target.pathname.slice(1)}" SET ${name} = '${value}'`)
  }
  const scans: Scan[] = []
  let statements = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const database = connect({ host: target.hostname, port: Number(target.port || 5432) })
    client.pipe(database)
    database.pipe(client)
    database.on(
      'data',
      messages((notice) => {
        const at = notice.indexOf('plan:\n')
        if (at < 0) return
        const { 'Query Text': statement, Plan: plan } = JSON.parse(notice.slice(at + 6))
        statements++
        scans.push(...findScans(plan, statement))
      }),
    )
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const own = Object.assign(new URL(url), {
    hostname: '127.0.0.1',
    port: String((server.address() as AddressInfo).port),
  })
  return {
    url: own.href,
    /** The scans since the last call, and of how many statements they are. */
    take: () => {
      const taken = { statements, scans: scans.splice(0) }
      statements = 0
      return taken
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Reads the server's messages, and calls `onNotice` with the text of each notice. */
function messages(onNotice: (text: string) => void) {
  let unread: Buffer = Buffer.alloc(0)
  return (chunk: Buffer) => {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk])
    while (unread.length >= 5) {
      const end = 1 + unread.readInt32BE(1)
      if (unread.length < end) return
      if (unread[0] === 0x4e) onNotice(readField(unread.subarray(5, end), 'M'))
      unread = unread.subarray(end)
    }
  }
}

/** A field of a NoticeResponse: a type and a string each, with zero bytes behind. */
function readField(body: Buffer, type: string): string {
  const field = body
    .toString()
    .split('\0')
    .find((one) => one.startsWith(type))
  return field?.slice(1) ?? ''
}

/** The scans of a plan that `EXPLAIN (ANALYZE, FORMAT JSON)` has returned. */
export function findScans(node: Node, statement: string): Scan[] {
  const { 'Node Type': type, 'Relation Name': table, 'Actual Rows': rows, 'Actual Loops': loops, Plans = [] } = node
  const below = Plans.flatMap((plan) => findScans(plan, statement))
  if (!/Scan$/.test(type) || table === undefined) return below
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return [{ statement, node: type, table, rows: (rows + removed) * loops }, ...below]
}

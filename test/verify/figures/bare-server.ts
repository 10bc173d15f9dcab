/**
 * The plainest server of streams that an expert would write, to compare with: one LISTEN for all streams, one query a
 * notification, its event written to each stream. It knows neither tokens nor cursors. Arguments: the address of the database.
 */
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'

const [connectionString] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString, max: 5 })
const listener = new pg.Client({ connectionString })
const streams = new Set<ServerResponse>()

await pool.query('CREATE TABLE IF NOT EXISTS bare_change (number bigserial PRIMARY KEY, key text, value text)')
await listener.connect()
await listener.query('LISTEN bare_changed')
listener.on('notification', async ({ payload }) => {
  const { rows } = await pool.query('SELECT number, key, value FROM bare_change WHERE number = $1', [payload])
  const [{ number, key, value }] = rows
  const event = `id: ${number}\ndata: {"key":"${key}","value":${value}}\n\n`
  for (const stream of streams) stream.write(event)
})
setInterval(() => {
  for (const stream of streams) stream.write(':\n')
}, 15_000)
// A health check, and of a table: PostgreSQL does not count transactions that touch none.
setInterval(() => void pool.query('SELECT FROM bare_change LIMIT 1'), 1_000)

const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('retry: 1000\n')
    streams.add(response)
    return void response.on('close', () => streams.delete(response))
  }
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  const insert = `WITH change AS (INSERT INTO bare_change (key, value) VALUES ($1, $2) RETURNING number)
    SELECT pg_notify('bare_changed', number::text) FROM change`
  await pool.query(insert, [request.url!.split('/').at(-1), body])
  response.end('{}')
})
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))

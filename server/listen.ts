import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { createServer, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type Koa from 'koa'
import { envelope } from '../rest-facade/envelope.ts'
import { errors } from '../routers/errors.ts'
import type { State } from './state.ts'

/** Bounds on how long a client may take; what it sends is bounded where it is read. */
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000,
  /** Longer than the 60 s for which load balancers keep a connection. */
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
  /** Ours to answer, in the documented shape. */
  requireHostHeader: false,
}

export interface Listener {
  port: number
  /** Stops accepting, lets the requests in flight finish, and cuts what is left after so many milliseconds. */
  close: (graceMs: number) => Promise<void>
}

/** Listens on every interface. `headers` are those of answers that never come to the app, as their requests are no HTTP. */
export async function listen(app: Koa<State>, port: number, headers: Record<string, string> = {}): Promise<Listener> {
  const server = createServer(limits)
  let ending = false
  const handle = app.callback()
  server.on('request', (request, response) => {
    if (ending) response.shouldKeepAlive = false
    return handle(request, response)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    const { body, fields } = refusal(headers)
    const lines = Object.entries({ ...fields, Connection: 'close' }).map(([name, value]) => `${name}: ${value}`)
    const status = statuses[error.code ?? ''] ?? 400
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
  })
  server.on('checkExpectation', (_request, response) => {
    const { body, fields } = refusal(headers)
    response.writeHead(417, fields).end(body)
  })

  await bind(server, port)
  return {
    port: (server.address() as { port: number }).port,
    async close(graceMs) {
      ending = true
      const closed = new Promise<true>((resolve) => server.close(() => resolve(true)))
      const giveUp = Date.now() + graceMs
      // A connection falls idle when its answer is sent; Node does not close it by itself.
      while (!(await Promise.race([closed, setTimeout(50, false)]))) {
        if (Date.now() < giveUp) server.closeIdleConnections()
        else server.closeAllConnections()
      }
    },
  }
}

function bind(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another process uses it' : error.message
      reject(new Error(`Cannot listen on port ${port}: ${why}.`))
    })
    server.listen(port, resolve)
  })
}

const statuses: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }

/** What is no HTTP, in the common shape all the same. */
function refusal(headers: Record<string, string>) {
  const requestId = randomUUID()
  const body = JSON.stringify(envelope(errors.requestInvalid(), null, requestId))
  const fields = {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
  }
  return { body, fields }
}

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { InFlight } from '../../prisma/in-flight.ts'
import { envelope, errorHeaders } from '../../rest-facade/envelope.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { dropBody } from './drain.ts'
import { continueOnRead } from './expect-continue.ts'
import type { ParserError, Refusal } from './raw-name.ts'
import { JSON_TYPE } from './send.ts'

/** Browsers send up to 200 bytes. */
const MAX_NEGOTIATED_BYTES = 1_024

const NEGOTIATED = ['accept', 'accept-language', 'accept-encoding', 'accept-charset']

/**
 * A negotiated header beyond 1 KiB counts as absent. Koa and oidc-provider parse them with negotiator, whose time is quadratic:
 * 15 KB of quoted commas stopped the process for 0.4 s.
 */
function dropLongNegotiation({ headers }: IncomingMessage) {
  for (const name of NEGOTIATED) if ((headers[name]?.length ?? 0) > MAX_NEGOTIATED_BYTES) delete headers[name]
}

/** Time limits for clients; the size and the time of bodies are limited where they are read or dropped. */
const limits = {
  headersTimeout: 10_000,
  /** Would cut off a large body that comes as fast as it must. */
  requestTimeout: 0,
  connectionsCheckingInterval: 2_000,
  /** Longer than the 60 s for which load balancers keep a connection open. */
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
  /** match-route.ts refuses a missing Host, in the documented form. */
  requireHostHeader: false,
}

/** How long a refused connection stays open, so that its client can read the response. */
const LINGER_MS = 5_000

export interface Listener {
  port: number
  /**
   * Continues to serve for `drainMs` with `Connection: close`; then stops accepting, waits for requests in flight, and cuts the
   * remaining connections after `graceMs`.
   */
  close: (graceMs: number, drainMs?: number) => Promise<void>
  /** How many requests were in flight on the connections that `close` has cut. */
  cut: () => number
}

interface Options {
  setting?: string
  /** An IP address; every interface by default. */
  host?: string | undefined
  /** Headers for responses to requests that are not valid HTTP. */
  headers?: Record<string, string>
  /** Time limit for a request's head, in place of 10 s. */
  headMs?: number
  toRefusal?: (error: ParserError) => Refusal | undefined
}

/** Throws if the port is taken. */
export async function listen(
  app: { callback: () => (request: IncomingMessage, response: ServerResponse) => unknown },
  port: number,
  { setting, host, headers = {}, headMs = limits.headersTimeout, toRefusal = () => undefined }: Options = {},
): Promise<Listener> {
  const server = createServer({ ...limits, headersTimeout: headMs })
  // Their size is limited. A limit on their number would hide the rest, such as a second Host.
  server.maxHeadersCount = 0
  const inFlight = new InFlight<ServerResponse>()
  let draining = false
  let cut = 0
  const handle = app.callback()
  const begin = (request: IncomingMessage, response: ServerResponse) => {
    dropLongNegotiation(request)
    response.on('close', inFlight.add(response))
    if (draining) response.shouldKeepAlive = false
  }
  server.on('request', (request, response) => {
    begin(request, response)
    return handle(request, response)
  })
  server.on('checkContinue', (request, response) => {
    begin(request, response)
    continueOnRead(request, response)
    return handle(request, response)
  })
  const refused = new WeakSet<Socket>()
  server.on('clientError', (error: ParserError, socket: Socket) => {
    // Later bytes are discarded for a while: closing at once would reset the connection and lose the response.
    if (refused.has(socket)) return
    refused.add(socket)
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
    const refuse = () => {
      const own = toRefusal(error)
      const { body, fields } = refusal(headers, own)
      const lines = Object.entries({ ...fields, Connection: 'close' }).map(([name, value]) => `${name}: ${value}`)
      const status = own?.error.status ?? statuses[error.code ?? ''] ?? 400
      socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
    }
    // Valid earlier requests on this connection are answered first.
    const earlier = inFlight.items().filter(({ req }) => req.socket === socket && req.complete)
    const answered = earlier.map((response) => new Promise((resolve) => response.once('close', resolve)))
    void Promise.all(answered).then(refuse)
  })
  server.on('checkExpectation', async (request, response) => {
    const { body, fields } = refusal(headers)
    await dropBody(request, response)
    response.writeHead(417, fields).end(body)
  })

  await bind(server, port, host).catch(async (error: NodeJS.ErrnoException) => {
    const isTaken = error.code === 'EADDRINUSE'
    const free = isTaken && setting ? ` ${setting}=${await nextFreePort(port, host)} is free.` : ''
    const why = isTaken ? `another process uses it.${free}` : `${error.message}.`
    throw new Error(`Cannot listen on port ${port}: ${why}`, { cause: error })
  })
  return {
    port: (server.address() as { port: number }).port,
    async close(graceMs, drainMs = 0) {
      // With Connection: close in the response, a client does not send its next request into a closing connection.
      draining = true
      for (const response of inFlight.items()) response.shouldKeepAlive = false
      // server.close() resets idle connections, including those with a request in transit.
      if (drainMs > 0) await sleep(drainMs)
      // After the poll for events: connections waiting to be accepted would be reset.
      await new Promise(setImmediate)
      const closed = new Promise<true>((resolve) => server.close(() => resolve(true)))
      const giveUp = Date.now() + graceMs
      // Node does not close connections that become idle after close().
      while (!(await Promise.race([closed, sleep(50, false)]))) {
        if (Date.now() < giveUp) {
          server.closeIdleConnections()
          continue
        }
        cut ||= inFlight.size
        server.closeAllConnections()
      }
    },
    cut: () => cut,
  }
}

function bind(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host }, resolve)
  })
}

async function nextFreePort(taken: number, host: string | undefined): Promise<number> {
  for (let port = taken + 1; port < 65_536; port++) {
    const server = createServer()
    const isFree = await bind(server, port, host).then(
      () => true,
      () => false,
    )
    server.close()
    if (isFree) return port
  }
  return 0
}

const statuses: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }

const notHttp = { error: errors.requestInvalid(), section: null }

/** The response to a request that is not valid HTTP, by default in the common form. */
function refusal(headers: Record<string, string>, { error, section, base }: Refusal = notHttp) {
  const requestId = randomUUID()
  const body = JSON.stringify(envelope(error, section, requestId))
  const fields = {
    ...headers,
    'Content-Type': JSON_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    ...errorHeaders(error.id, base),
  }
  return { body, fields }
}

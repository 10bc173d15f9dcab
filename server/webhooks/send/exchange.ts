import type { Agent } from 'node:https'
import { request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { CLOSED, responseTo } from '../../outgoing/response-to.ts'
import type { AttemptResult } from './response.ts'
import { noResponse, readResponse } from './response.ts'

/** Limit for all headers of a response together. */
const MAX_HEADER_BYTES = 16_384

export interface Target {
  /** An IP address, so that nothing is resolved again. */
  address: string
  port: number
  /** The name that the certificate must match; empty when the receiver is an IP address. */
  servername: string
  path: string
}

interface Options {
  connectMs: number
  totalMs: number
  /** Unix time in milliseconds, for `Retry-After`. */
  now: () => number
}

export interface Exchange {
  result: AttemptResult
  /**
   * The alternative that may succeed: the receiver's next address, as this one could not be reached; or a new connection, as the
   * receiver had closed the idle one that was reused.
   */
  fallback: 'next address' | 'new connection' | null
}

/** One POST to one address, settled within `totalMs`. Throws when Node rejects the request itself. */
export function exchange(
  agent: Agent,
  { address, port, servername, path }: Target,
  { headers, body }: { headers: Record<string, string | number>; body: string },
  { connectMs, totalMs, now }: Options,
): Promise<Exchange> {
  const sent = request({
    agent,
    host: address,
    port,
    servername,
    path,
    method: 'POST',
    headers,
    setHost: false,
    maxHeaderSize: MAX_HEADER_BYTES,
  })
  return new Promise((resolve) => {
    let connected = false
    let reused = false
    let result: (() => AttemptResult) | undefined

    const settle = (exchange: Exchange, complete = false) => {
      clearTimeout(connectTimeout)
      clearTimeout(totalTimeout)
      resolve(exchange)
      if (!complete) sent.destroy()
    }
    const succeed = (complete = false) => settle({ result: result!(), fallback: null }, complete)
    const fail = (error: string, fallback: Exchange['fallback'] = null) =>
      settle({ result: noResponse(error), fallback })
    const onConnected = () => {
      connected = true
      clearTimeout(connectTimeout)
    }
    const connectTimeout = setTimeout(() => fail('connect timeout', 'next address'), connectMs)
    // Once the status line has arrived, the result is known: the body is only stored for its reader.
    const totalTimeout = setTimeout(() => (result ? succeed() : fail('timeout')), totalMs)

    sent.on('socket', (socket) => {
      reused = sent.reusedSocket
      // Deno resends requests that failed on a reused connection, even after a timeout. The sender decides that here.
      sent.reusedSocket = false
      if (reused) onConnected()
      else socket.once('secureConnect', onConnected)
    })
    responseTo(sent).then(
      (response) => {
        onConnected()
        result = readResponse(response, now, succeed)
      },
      (error: NodeJS.ErrnoException) => {
        const code = shortCode(error)
        if (isCertificateError(code, sent.socket as TLSSocket | null)) return fail(`certificate: ${code}`)
        const closedByReceiver = reused && (code === 'ECONNRESET' || code === 'EPIPE')
        fail(code, closedByReceiver ? 'new connection' : connected ? null : 'next address')
      },
    )
    sent.on('close', () => result && succeed(true))
    sent.end(body)
  })
}

/** Node stores a certificate's error in the socket; Deno does not. */
const isCertificateError = (code: string, socket: TLSSocket | null) =>
  Boolean(socket?.authorizationError) || /^(?!ERR_SSL_).*(?:CERT|ISSUER)/.test(code)

/** Only the error's code, as its message may contain addresses and data sent. */
const shortCode = ({ code = '', message }: NodeJS.ErrnoException) =>
  /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : message === CLOSED ? CLOSED : 'connection failed'

import type { Agent } from 'node:https'
import { request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { Answer } from './answer.ts'
import { readAnswer } from './answer.ts'

/** An answer's headers are read up to this size, in bytes. */
const MAX_HEADER_BYTES = 16_384

export interface Target {
  /** An IP address, so that nothing resolves it once more. */
  address: string
  port: number
  /** The name in the certificate; empty when that is the address. */
  servername: string
  path: string
}

export interface Failure {
  error: string
  /** Nothing was sent, and another address of the receiver may do better. */
  unreached: boolean
  /** The receiver had closed the connection, which it had left open after an earlier answer. */
  stale: boolean
}

export const failure = (error: string, more: Partial<Failure> = {}): Failure => ({
  error,
  unreached: false,
  stale: false,
  ...more,
})

/** One POST to one address. Throws when node refuses the request as such; else it always settles, in `totalMs` at most. */
export function exchange(
  agent: Agent,
  { address, port, servername, path }: Target,
  { headers, body }: { headers: Record<string, string | number>; body: string },
  { connectMs, totalMs }: { connectMs: number; totalMs: number },
): Promise<Answer | Failure> {
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
    let answer: (() => Answer) | undefined

    const finish = (result: Answer | Failure, complete = false) => {
      clearTimeout(connecting)
      clearTimeout(whole)
      resolve(result)
      if (!complete) sent.destroy()
    }
    const fail = (error: string, more?: Partial<Failure>) => finish(failure(error, more))
    const reached = () => {
      connected = true
      clearTimeout(connecting)
    }
    const connecting = setTimeout(() => fail('connect timeout', { unreached: true }), connectMs)
    // The status line has said it already; what follows is only kept for the reader.
    const whole = setTimeout(() => (answer ? finish(answer()) : fail('timeout')), totalMs)

    sent.on('socket', (socket) => {
      reused = sent.reusedSocket
      // Deno sends once more what failed on a reused connection, and even what was given up. That is for us to decide.
      sent.reusedSocket = false
      if (reused) reached()
      else socket.once('secureConnect', reached)
    })
    sent.on('response', (response) => {
      reached()
      answer = readAnswer(response, (complete) => finish(answer!(), complete))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const code = shortCode(error)
      if (isCertificateFault(code, sent.socket as TLSSocket | null)) return fail(`certificate: ${code}`)
      fail(code, { unreached: !connected, stale: reused && !answer && (code === 'ECONNRESET' || code === 'EPIPE') })
    })
    sent.on('close', () => (answer ? finish(answer(), true) : fail('connection closed')))
    sent.end(body)
  })
}

/** Node leaves with the socket what it found wrong with the receiver's certificate, Deno does not. */
const isCertificateFault = (code: string, socket: TLSSocket | null) =>
  Boolean(socket?.authorizationError) || /^(?!ERR_SSL_).*(?:CERT|ISSUER)/.test(code)

/** Messages of errors may name addresses and what was sent; codes do not. */
const shortCode = ({ code = '' }: NodeJS.ErrnoException) =>
  /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : 'connection failed'

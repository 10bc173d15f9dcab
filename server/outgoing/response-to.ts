import type { ClientRequest, IncomingMessage } from 'node:http'

export const CLOSED = 'connection closed'

/**
 * The response to a request; rejects when the connection ends without one, with CLOSED as its message where Node has no error: for
 * a status of 101 it emits `close` alone. An error after the response has begun is one of reading it.
 */
export const responseTo = (sent: ClientRequest) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve)
    sent.on('error', reject)
    sent.on('close', () => reject(new Error(CLOSED)))
  })

import type { IncomingMessage, ServerResponse } from 'node:http'

const waiting = new WeakSet<IncomingMessage>()

/**
 * Answers `Expect: 100-continue` only when the body is read: the client of a request that is refused before does not send its
 * body. As it may send it anyway, such a response closes the connection.
 */
export function continueOnRead(request: IncomingMessage, response: ServerResponse) {
  const { shouldKeepAlive } = response
  waiting.add(request)
  response.shouldKeepAlive = false
  const onListener = (event: string | symbol) => {
    if (event !== 'data' && event !== 'readable') return
    request.off('newListener', onListener)
    waiting.delete(request)
    if (response.headersSent) return
    response.shouldKeepAlive = shouldKeepAlive
    response.writeContinue()
  }
  request.on('newListener', onListener)
}

/** Whether the client still waits for the 100 response. */
export const waitsToContinue = (request: IncomingMessage) => waiting.has(request)

import type { IncomingMessage, ServerResponse } from 'node:http'

const waiting = new WeakSet<IncomingMessage>()

/**
 * Answers `Expect: 100-continue` once somebody reads the body: the client of a request that is refused before keeps its body to
 * itself. As it may send it all the same, such a response ends the connection.
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

/** Whether the client still waits to be asked for the body. */
export const waitsToContinue = (request: IncomingMessage) => waiting.has(request)

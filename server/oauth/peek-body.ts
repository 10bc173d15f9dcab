import type { IncomingMessage } from 'node:http'

/** Reads a body and puts it back, for the next reader; null for one without Content-Length, above `maxBytes`, or cut off. */
export function peekBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const length = Number(request.headers['content-length'] ?? 0)
  if (!(length > 0 && length <= maxBytes)) return Promise.resolve(null)
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const done = (body: Buffer | null) => {
      request.off('readable', take).off('close', cutOff)
      resolve(body)
    }
    const cutOff = () => done(null)
    const take = () => {
      while (size < length) {
        const chunk: Buffer | null = request.read()
        if (chunk === null) return
        chunks.push(chunk)
        size += chunk.length
      }
      const body = Buffer.concat(chunks)
      // Before 'end' is emitted, which waits for this to be read.
      request.unshift(body)
      done(body)
    }
    request.on('readable', take).on('close', cutOff)
  })
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listenLocally } from '../support/local-server.ts'

/**
 * `before`: the request never arrives. `after`: its answer is lost. `cut`: half of it is. `gateway`: the proxy answers 502 in its
 * place.
 */
export type Loss = 'none' | 'before' | 'after' | 'cut' | 'gateway'

interface Settings {
  port: number
  lose?: (request: IncomingMessage) => Loss
  /** Changes an ETag, as a proxy that compresses does. */
  etag?: (etag: string) => string
  /** Whether an `Idempotency-Key` reaches the service; else it is as one that knows no keys. */
  keys: 'passed' | 'dropped'
}

interface Answer {
  status: number
  headers: Record<string, string>
  text: string
}

/** A proxy before the service. `requests` has what came to it. */
export async function losingProxy({ port, lose = () => 'none', etag = (same) => same, keys }: Settings) {
  const requests: { line: string; key: string | undefined; status: number | undefined }[] = []

  async function forward({ method, url, headers: given }: IncomingMessage, body: Buffer): Promise<Answer> {
    const { host: _, connection: __, 'content-length': ___, 'idempotency-key': key, ...headers } = given
    const response = await fetch(`http://127.0.0.1:${port}${url}`, {
      method: method!,
      headers: { ...headers, ...(keys === 'passed' && key && { 'idempotency-key': key }) } as Record<string, string>,
      body: body.length > 0 ? new Uint8Array(body) : null,
    })
    const kept = ['content-type', 'x-error-code', 'retry-after', 'etag']
    const found = kept.flatMap((name) => (response.headers.has(name) ? [[name, response.headers.get(name)!]] : []))
    return { status: response.status, headers: Object.fromEntries(found), text: await response.text() }
  }

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const seen = {
      line: `${request.method} ${request.url}`,
      key: request.headers['idempotency-key'] as string | undefined,
      status: undefined as number | undefined,
    }
    requests.push(seen)
    const loss = lose(request)
    // A connection each, so that a lost one is no other request's.
    response.shouldKeepAlive = false
    const body = await buffer(request)
    if (loss === 'before') return void request.socket.destroy()
    const { status, headers, text } = await forward(request, body)
    seen.status = status
    if (loss === 'after') return void request.socket.destroy()
    if (loss === 'gateway') return void response.writeHead(502).end('<html>')
    if (headers.etag) headers.etag = etag(headers.etag)
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) })
    if (loss !== 'cut') return void response.end(text)
    response.write(text.slice(0, text.length / 2), () => request.socket.destroy())
  }

  return { port: await listenLocally(createServer((request, response) => void handle(request, response))), requests }
}

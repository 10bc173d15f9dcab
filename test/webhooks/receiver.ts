import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { SelfsignedOptions } from 'selfsigned'
import { generate } from 'selfsigned'

/** One request as it arrived. */
export interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** A self-signed certificate for 127.0.0.1, ::1 and the names; senders have to trust it as an authority. */
export async function selfSigned(names: readonly string[] = ['localhost'], more: SelfsignedOptions = {}) {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'receiver' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
          ...names.map((value) => ({ type: 2 as const, value })),
        ],
      },
    ],
    ...more,
  })
  return { key, cert }
}

/** An HTTPS receiver of deliveries. It records requests and responds with 204 by default. */
export async function startReceiver({
  answer = (_received: Received, response: ServerResponse): unknown => response.writeHead(204).end(),
  names = [] as readonly string[],
  certificate = selfSigned(['localhost', ...names]),
} = {}) {
  const { key, cert } = await certificate
  const received: Received[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer({ key, cert, keepAliveTimeout: 60_000 }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method, url, headers } = request
      const one = { method: method!, path: url!, headers, body: Buffer.concat(chunks).toString('utf8') }
      received.push(one)
      answer(one, response)
    })
  })
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket)).on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    /** The authority that a sender has to trust. */
    ca: cert,
    url: (path = '/hook', host = '127.0.0.1') => `https://${host}:${port}${path}`,
    received,
    connections: () => connections,
    /** Open connections. */
    open: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

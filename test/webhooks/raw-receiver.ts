import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket, TlsOptions } from 'node:tls'
import { createServer } from 'node:tls'
import { selfSigned } from './receiver.ts'

/** A TLS receiver that calls `answer` to write raw bytes whenever a GET, or a request with the body `{}`, has arrived. */
export async function startRawReceiver(
  answer: (socket: TLSSocket) => void,
  { certificate = selfSigned(), ...options }: TlsOptions & { certificate?: ReturnType<typeof selfSigned> } = {},
) {
  const { key, cert } = await certificate
  const sockets = new Set<Socket>()
  const server = createServer({ key, cert, ...options }, (socket) => {
    let request = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      request += chunk
      if (!request.endsWith(request.startsWith('GET ') ? '\r\n\r\n' : '\r\n\r\n{}')) return
      request = ''
      answer(socket)
    })
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket)).on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    ca: cert,
    url: `https://127.0.0.1:${port}/hook`,
    open: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

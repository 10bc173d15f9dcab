import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { messagePage } from '../../server/oauth/pages/message.ts'
import { pageHeaders } from '../../server/pages/headers.ts'
import { styleSheet } from '../../server/pages/style-sheet.ts'

interface Posted {
  path: string
  fields: URLSearchParams
  headers: IncomingHttpHeaders
}

/** Serves pages on loopback with the service's headers, and records posted forms. */
export async function servePages(pages: Record<string, string>) {
  const posted: Posted[] = []
  const server = createServer(async (request, response) => {
    const path = new URL(request.url!, 'http://localhost').pathname
    if (request.method === 'POST') {
      posted.push({ path, fields: new URLSearchParams(await text(request)), headers: request.headers })
    }
    if (path === '/v1/oauth/style.css') {
      response.writeHead(200, { 'Content-Type': 'text/css; charset=utf-8', 'X-Content-Type-Options': 'nosniff' })
      response.end(styleSheet)
      return
    }
    response.writeHead(200, { ...pageHeaders, 'Content-Type': 'text/html; charset=utf-8' })
    response.end(pages[path] ?? messagePage({ language: 'en', message: 'notFound' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posted,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { messagePage } from '../../server/browser/pages/message.ts'
import { styleSheet } from '../../server/browser/pages/style-sheet.ts'
import { pageHeaders } from '../../server/browser/send-page.ts'
import { words } from '../../server/browser/words/words.ts'

/** For every icon and logo. */
const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#24559b" d="M0 0h16v16H0z"/>
<path fill="#ffd75e" d="M4 3h8v2H9v8H7V5H4z"/></svg>`

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
    if (path.startsWith('/v1/oauth/icons/') || path.startsWith('/v1/oauth/logo/')) {
      response.writeHead(200, { 'Content-Type': 'image/svg+xml' })
      response.end(picture)
      return
    }
    response.writeHead(200, { ...pageHeaders, 'Content-Type': 'text/html; charset=utf-8' })
    response.end(pages[path] ?? messagePage({ w: words.en, message: 'notFound' }))
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

import { createServer } from 'node:http'
import { findRoute, pool } from './bare-route.ts'
import { verifiedTenant } from './token.ts'

/** The baseline: node:http and pg with the plainest statement, and the same token check. */
createServer((request, response) => {
  const { bare, method } = findRoute(request.method!, request.url!)
  let body = ''
  if (method !== 'GET') request.setEncoding('utf8').on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    verifiedTenant(request.headers.authorization)
      .then((tenant) => bare(pool, tenant, request.url!, body))
      .then(
        (text) => {
          const length = Buffer.byteLength(text)
          response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': length })
          response.end(text)
        },
        () => response.writeHead(500).end(),
      )
  })
  if (method === 'GET') request.resume()
}).listen(Number(process.env.PORT))

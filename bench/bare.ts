import { createServer } from 'node:http'
import { jwtVerify } from 'jose'
import pg from 'pg'
import { developmentIssuer, developmentKey } from '../server/tokens/development.ts'
import type { Tenant } from './routes.ts'
import { routes } from './routes.ts'

/** The baseline: node:http and pg with the plainest statement, and the same check of the token. */
const { DATABASE_URL, DATA_DIR, PORT } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10, options: '-c timezone=UTC' })
const { keys, issuer, audience } = developmentIssuer(await developmentKey(DATA_DIR!))
/** One route at a time, which the bench names: a bare handler has no routing. */
let { method, bare } = routes.get!
process.on('message', ({ route }: { route?: string }) => {
  if (route !== undefined) ({ method, bare } = routes[route]!)
})
const verified = new Map<string, { tenant: Tenant; expires: number }>()

async function authenticate(authorization = ''): Promise<Tenant> {
  const token = authorization.slice('Bearer '.length)
  let known = verified.get(token)
  if (!known) {
    const { payload } = await jwtVerify(token, keys, { issuer, audience, algorithms: ['ES256'], typ: 'at+jwt' })
    const { sub, organisation, client_id: app, exp } = payload as Record<string, string> & { exp: number }
    known = { tenant: { token, member: sub!, club: organisation!, app: app! }, expires: exp * 1000 }
    verified.set(token, known)
  }
  if (known.expires <= Date.now()) throw new Error('expired')
  return known.tenant
}

createServer((request, response) => {
  let body = ''
  if (method !== 'GET') request.setEncoding('utf8').on('data', (chunk) => (body += chunk))
  request.on('end', () => {
    authenticate(request.headers.authorization)
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
}).listen(Number(PORT))

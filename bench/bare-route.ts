import { jwtVerify } from 'jose'
import pg from 'pg'
import { developmentIssuer, developmentKey } from '../server/tokens/development.ts'
import type { Tenant } from './routes.ts'
import { routes } from './routes.ts'

/** What the programs with bare handlers share: connections, the handler that answers, and the check of the token. */
const { DATABASE_URL, DATA_DIR } = process.env
export const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10, options: '-c timezone=UTC' })

/** One route at a time, which the bench names: a bare handler has no routing. */
export let { method, bare } = routes.get!
process.on('message', ({ route }: { route?: string }) => {
  if (route !== undefined) ({ method, bare } = routes[route]!)
})

const { keys, issuer, audience } = developmentIssuer(await developmentKey(DATA_DIR!))
const verified = new Map<string, { tenant: Tenant; expires: number }>()

/** The tenant of a token, which is verified once. Throws when it is not valid. */
export async function verifiedTenant(authorization = ''): Promise<Tenant> {
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

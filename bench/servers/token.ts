import { jwtVerify } from 'jose'
import { developmentIssuer, developmentKey } from '../../server/tokens/development.ts'
import { ISSUER } from '../data/tokens.ts'
import type { Tenant } from '../routes/route.ts'

const { keys, issuer, audience } = developmentIssuer(await developmentKey(process.env.DATA_DIR!))
const verified = new Map<string, { tenant: Tenant; expires: number }>()

/** A token's tenant; each token is verified once. Throws when it is not valid. */
export async function verifiedTenant(authorization = ''): Promise<Tenant> {
  const token = authorization.slice('Bearer '.length)
  let known = verified.get(token)
  if (!known) {
    const { payload } = await jwtVerify(token, keys, {
      issuer: [issuer, ISSUER],
      audience,
      algorithms: ['ES256'],
      typ: 'at+jwt',
    })
    const { sub, organisation, client_id: app, exp } = payload as Record<string, string> & { exp: number }
    known = { tenant: { token, member: sub!, club: organisation!, app: app! }, expires: exp * 1000 }
    verified.set(token, known)
  }
  if (known.expires <= Date.now()) throw new Error('expired')
  return known.tenant
}

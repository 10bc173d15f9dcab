import type { JWTHeaderParameters, JWTPayload } from 'jose'
import type { Principal } from '../../routers/kernel/access.ts'
import { errors } from '../../routers/kernel/errors.ts'

/** The `typ` of access tokens (RFC 9068). */
export const ACCESS_TOKEN = 'at+jwt'

/** The media type in a token's header, in lower case and without `application/` (RFC 7515, 4.1.9). */
export const readType = ({ typ }: Pick<JWTHeaderParameters, 'typ'>) =>
  String(typ)
    .toLowerCase()
    .replace(/^application\//, '')

/** For access tokens with this service's own claim names; throws 401. */
export function readPrincipal(payload: JWTPayload, header: JWTHeaderParameters): Principal {
  const { sub: member, organisation, client_id: client, scope = '' } = payload
  if (readType(header) !== ACCESS_TOKEN || typeof scope !== 'string') throw errors.tokenInvalid()
  return toPrincipal({ member, organisation, client, scopes: scope.split(' ') })
}

interface Claims extends Record<'member' | 'organisation' | 'client', unknown> {
  scopes: string[]
}

/** Throws 401 without an organisation or a client. Whether a member is needed depends on the procedure. */
export function toPrincipal({ member, organisation, client, scopes }: Claims): Principal {
  if (!(member === undefined || isName(member)) || !isName(organisation) || !isName(client)) throw errors.tokenInvalid()
  return { member: member ?? null, organisation, client, scopes: new Set(scopes) }
}

const isName = (value: unknown): value is string => typeof value === 'string' && value !== ''

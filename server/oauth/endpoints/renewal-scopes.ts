import type { IncomingHttpHeaders } from 'node:http'
import { decodeJwt } from 'jose'
import type { Client } from 'oidc-provider'
import { requestedScopes } from '../consents/authorize-scopes.ts'
import { parseBasicHeader } from './basic-header.ts'

/** Finds a client, with its scopes, without reading a document. */
export type FindClient = (id: string) => Promise<Pick<Client, 'clientAuthMethod'> | undefined>

/**
 * Drops the scopes of a renewal that its client is not registered for, as `authorize` does: oidc-agent asks for `offline_access`
 * each time. Returns whether it has. Scopes that the member has not allowed stay, and are refused.
 */
export async function dropUnknownScopes(
  headers: IncomingHttpHeaders,
  form: URLSearchParams,
  findClient: FindClient,
): Promise<boolean> {
  const asked = form.getAll('scope')
  if (form.get('grant_type') !== 'refresh_token' || asked.length !== 1) return false
  const id =
    form.get('client_id') || parseBasicHeader(headers.authorization)?.id || readIssuer(form.get('client_assertion'))
  const client = id ? await findClient(id) : undefined
  const known = client ? requestedScopes(client, asked[0]) : []
  if (known.length === 0) return false
  form.set('scope', known.join(' '))
  return true
}

/** A client's own key signs as its id (RFC 7523); oidc-provider verifies it. */
function readIssuer(assertion: string | null): string | undefined {
  try {
    return decodeJwt(assertion ?? '').iss
  } catch {
    return undefined
  }
}

import { isIP } from 'node:net'
import { parseUrl } from '../../../prisma/parse-url.ts'
import { nameFaults, redirectFaults } from '../../../routers/developer/shared/registration.ts'
import { formatSentence } from '../../../routers/developer/shared/validation.ts'
import { memberScopes } from '../../../routers/kernel/scopes.ts'
import { ALLOWED_SCOPES, requestableScopes, SANDBOX, SUSPENDED, WAITING } from '../consents/authorize-scopes.ts'

/** A refused document. The message names its fault to the app's developers. */
export class DocumentRefused extends Error {}

function refuse(sentence: string): never {
  throw new DocumentRefused(sentence)
}

/** As the id of a client is stored. */
const MAX_ADDRESS = 255

/** Whether a document may be at this address: in the one form that a URL has, at a name, with a path. */
export function isUsableAddress(id: string): boolean {
  const url = id.length > MAX_ADDRESS ? null : parseUrl(id)
  if (!url) return false
  const { href, hostname, pathname, username, password, hash } = url
  const isPlain = href === id && username === '' && password === '' && hash === '' && pathname !== '/'
  return isPlain && isIP(hostname.replace(/^\[|\]$/g, '')) === 0 && !hostname.endsWith('.')
}

/** The scopes of the Hobby level: nobody has reviewed what they are for. */
export const documentScopes = requestableScopes(memberScopes, 'hobby')

/** As oidc-provider has a client, for any document: it does not have to be read. */
export const documentClient = { clientAuthMethod: 'none', [ALLOWED_SCOPES]: documentScopes } as const

/**
 * A client's metadata for oidc-provider, from what its document says: redirect URIs and name, by the rules for registered clients.
 * The rest is the same for all of them. Throws DocumentRefused.
 */
export function parseDocument(address: string, text: string) {
  const { client_id, client_name, redirect_uris, ...others } = parseObject(text)
  const name = client_name ?? new URL(address).host.slice(0, 100)
  const uris: readonly unknown[] = Array.isArray(redirect_uris) ? redirect_uris : []
  if (client_id !== address) refuse('its client_id is not its address')
  if ((others.token_endpoint_auth_method ?? 'none') !== 'none' || 'client_secret' in others) {
    refuse('token_endpoint_auth_method must be none')
  }
  if (typeof name !== 'string') refuse('client_name is not a text')
  if (!isTexts(uris)) refuse('redirect_uris is not a list of addresses')
  const type = uris.every((uri) => uri.startsWith('https:')) ? 'web' : 'native'
  const faults = [...nameFaults('client', { name }), ...redirectFaults(uris, { type }, false)]
  if (faults.length > 0) refuse(faults.map(formatSentence).join(' '))
  return {
    client_id: address,
    client_name: name,
    application_type: type,
    redirect_uris: uris,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    [ALLOWED_SCOPES]: documentScopes,
    [SANDBOX]: false,
    [SUSPENDED]: false,
    [WAITING]: false,
  }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(text) }
  } catch {
    return refuse('it is not JSON')
  }
}

const isTexts = (list: readonly unknown[]): list is string[] => list.every((one) => typeof one === 'string')

import type { IdTokenAlgorithm } from '../../../prisma/generated/client.ts'
import type { Purpose, toClient, WantedOfClient } from '../shared/mappers.ts'
import { pickPurposes } from '../shared/purposes.ts'
import { firstAlgorithm } from '../shared/registration.ts'

export type Client = ReturnType<typeof toClient>

export interface Requested {
  name?: string | undefined
  redirectUris?: readonly string[] | undefined
  devices?: boolean | undefined
  postLogoutRedirectUris?: readonly string[] | undefined
  scopes?: readonly string[] | undefined
  idTokenAlgorithm?: IdTokenAlgorithm | undefined
  purpose?: Purpose | undefined
}

interface Changes {
  name?: string
  redirectUris?: string[]
  devices?: boolean
  postLogoutRedirectUris?: string[]
  scopes?: string[]
  idTokenAlgorithm?: IdTokenAlgorithm
  purpose?: Purpose
  wanted: WantedOfClient
}

/** Nobody has seen a client that waits itself, and a test client is used by its team alone. */
export const clientNeedsReview = ({ testOnly, state }: Client) => !testOnly && state === 'active'

export function changeClient(client: Client, requested: Requested): Changes {
  const redirectUris = requested.redirectUris && [...new Set(requested.redirectUris)]
  const scopes = requested.scopes && [...new Set(requested.scopes)]
  const postLogoutRedirectUris = requested.postLogoutRedirectUris && [...new Set(requested.postLogoutRedirectUris)]
  const idTokenAlgorithm = firstAlgorithm(scopes ?? [], client.scopes, requested.idTokenAlgorithm)
  const unreviewed = {
    // They are at hosts of the redirect URIs, which are reviewed.
    ...(postLogoutRedirectUris && { postLogoutRedirectUris }),
    ...(idTokenAlgorithm && { idTokenAlgorithm }),
  }
  const explained = scopes && !client.testOnly ? explain(client, scopes, requested.purpose ?? {}) : undefined
  if (!clientNeedsReview(client)) {
    return {
      ...(requested.name !== undefined && { name: requested.name }),
      ...(redirectUris && { redirectUris }),
      ...(requested.devices !== undefined && { devices: requested.devices }),
      ...unreviewed,
      ...(scopes && { scopes }),
      ...(explained && { purpose: explained }),
      wanted: {},
    }
  }
  const changes: Changes = { ...unreviewed, wanted: { ...client.wanted } }
  if (requested.name !== undefined) nameChange(changes, client, requested.name)
  if (redirectUris) redirectChange(changes, client, redirectUris)
  if (requested.devices !== undefined) deviceChange(changes, client, requested.devices)
  if (scopes) scopeChange(changes, client, scopes, explained!)
  return changes
}

/** Members read the app's name, or the client's if it has no app. */
function nameChange(changes: Changes, client: Client, name: string) {
  delete changes.wanted.name
  if (client.app === null && name !== client.name) changes.wanted.name = name
  else changes.name = name
}

/** Removed redirects end now, unless none would remain: then the current ones stay until the others are approved. */
function redirectChange(changes: Changes, client: Client, requested: string[]) {
  delete changes.wanted.redirectUris
  const hosts = new Set(client.redirectUris.map(readHost).filter((host) => host !== null))
  const now = requested.filter((address) => client.redirectUris.includes(address) || hosts.has(readHost(address) ?? ''))
  if (now.length > 0 || requested.length === 0) changes.redirectUris = now
  if (now.length < requested.length) changes.wanted.redirectUris = requested
}

/** A device may be anywhere, like the host of a new redirect. */
function deviceChange(changes: Changes, client: Client, requested: boolean) {
  delete changes.wanted.devices
  if (requested && !client.devices) changes.wanted.devices = true
  else changes.devices = requested
}

const readHost = (address: string) => {
  const { protocol, host } = new URL(address)
  return protocol === 'https:' ? host : null
}

function scopeChange(changes: Changes, client: Client, requested: string[], purpose: Purpose) {
  delete changes.wanted.scopes
  delete changes.wanted.purpose
  const now = requested.filter((scope) => client.scopes.includes(scope))
  if (now.length > 0) changes.scopes = now
  if (now.length < requested.length) Object.assign(changes.wanted, { scopes: requested, purpose })
}

/** The purposes of all scopes; those of current scopes were stated earlier. */
function explain(client: Client, scopes: string[], said: Purpose): Purpose {
  const known = { ...client.purpose, ...client.wanted?.purpose, ...said }
  const added = scopes.filter((scope) => !client.scopes.includes(scope) || scope in known)
  return pickPurposes(added, known)
}

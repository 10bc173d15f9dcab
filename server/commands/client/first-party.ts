import { readFile } from 'node:fs/promises'
import type { Database } from '../../../prisma/client.ts'
import { hashOfSecret, newClientSecret } from '../../../routers/developer/secrets/client-secret.ts'
import { publicKeySet } from '../../../routers/developer/shared/public-keys.ts'
import type { FirstPartyRegistration } from '../../../routers/developer/shared/registration.ts'
import { registerFirstParty } from '../../admin/clients.ts'
import { toIssuer } from '../../browser/addresses.ts'
import { routes } from '../../oauth/engine/routes.ts'
import { readSettings } from '../../process/command-settings.ts'
import { readAuthBaseUrl } from '../../process/running-address.ts'
import type { Io } from '../line/command.ts'
import { UsageError } from '../line/command.ts'
import { withDatabase } from '../line/database.ts'
import { openRemovalLog } from '../removals/removal-log.ts'

interface Options {
  id: string
  name: string
  scope: string
  /** A file with public keys; without one the client gets a secret. */
  jwks?: string | undefined
  replace?: boolean | undefined
  log?: string | undefined
}

/** Resolves with what the client needs to get tokens. A secret is shown here only. */
export async function addFirstParty({ id, name, scope, jwks, replace = false, log: path }: Options, io: Io) {
  const scopes = scope.split(' ').filter(Boolean)
  if (scopes.length === 0) throw new UsageError('--id, --name and --scope are required.')
  const config = readSettings(io.env, 'tokenIssuer')
  const authBaseUrl = await readAuthBaseUrl(io.env)
  if (config.tokenIssuer !== undefined && jwks !== undefined) {
    throw new Error(`TOKEN_ISSUER is set: ${config.tokenIssuer} issues the tokens and has the client's keys.`)
  }
  const keys = jwks === undefined ? null : publicKeySet(await readFile(jwks, 'utf8'))
  const secret = keys || config.tokenIssuer !== undefined ? null : newClientSecret()
  const secretCredentials = secret === null ? null : { secretHash: hashOfSecret(secret) }
  const registration = { id, name, scopes, credentials: keys ? { jwks: keys } : secretCredentials }
  const log = await openRemovalLog(io, path)
  return withDatabase(io, async (db) => {
    const done = await registerFirstParty(db, registration, replace)
    if (done === 'replaced' && registration.credentials) {
      await log.write({
        repeat: 'client.credentials',
        client: id,
        secretHash: null,
        jwks: null,
        ...registration.credentials,
      })
    }
    const tokenEndpoint = registration.credentials && `${toIssuer(authBaseUrl)}${routes.token}`
    return { id, done, scopes, secret, tokenEndpoint, organisation: await anOrganisation(db, registration) }
  }).finally(log.close)
}

export type Added = Omit<Awaited<ReturnType<typeof addFirstParty>>, 'organisation'> & { organisation: string | null }

export function addedText({ id, done, scopes, secret, tokenEndpoint, organisation }: Added): string {
  const added = `The client ${id} was ${done}.\n`
  if (!tokenEndpoint) return added
  if (!secret) return `${added}\nIt signs its assertions for ${tokenEndpoint} (docs/first-party.md).\n`
  return (
    `${added}\nIts secret, which is shown only once: ${secret}\n\n` +
    `A token for ${organisation}, for 15 minutes:\n` +
    `curl -u '${id}:${secret}' -d grant_type=client_credentials -d organisation='${organisation}' ` +
    `-d scope='${scopes.join(' ')}' ${tokenEndpoint}\n`
  )
}

/** An organisation that the client may work for, so that the printed line works as it is. */
async function anOrganisation(db: Database, { scopes }: FirstPartyRegistration) {
  const kind = scopes.some((scope) => scope.startsWith('ntf.')) ? 'provider' : 'academy'
  const found = await db.organisation.findFirst({ where: { kind }, orderBy: { id: 'asc' }, select: { id: true } })
  return found?.id ?? kind.toUpperCase()
}

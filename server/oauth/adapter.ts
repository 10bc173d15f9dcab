import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { Database } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'
import { isBeside } from '../../routers/clients/registration.ts'
import { isPostgresText } from '../../routers/kernel/access.ts'
import {
  ALLOWED_SCOPES,
  isStopped,
  POST_LOGOUT_URIS,
  requestableScopes,
  SANDBOX,
  SUSPENDED,
  WAITING,
} from './authorize-scopes.ts'
import { firstPartyMetadata, teamCredentials } from './client-credentials.ts'
import { endGrants } from './consents.ts'
import { GRANT_SECONDS } from './lifetimes.ts'
import { errors } from './oidc-provider.ts'
import { hashOfToken } from './refresh-rotation.ts'

/** Models whose id is a credential: only its hash is stored, so that reading the database gives nobody access. */
const SECRET_ID = new Set(['AuthorizationCode', 'RefreshToken', 'AccessToken', 'Session', 'Interaction'])

interface Options {
  db: Database
  now: () => number
}

/** One table has all of oidc-provider's records; its clients are the registered ones. */
export const adapterFactory =
  (options: Options) =>
  (model: string): Adapter =>
    model === 'Client' ? clients(options) : records(options, model)

function records({ db, now }: Options, model: string): Adapter {
  const secret = SECRET_ID.has(model)
  const keyOf = (id: string) => (secret ? hashOfToken(id) : id)
  const at = (id: string) => ({ of: { model, id: keyOf(id) } })
  const live = () => ({ OR: [{ expiresAt: null }, { expiresAt: { gt: new Date(now()) } }] })

  const payloadOf = (row: { payload: unknown; consumedAt: Date | null } | null, id?: string) =>
    row
      ? ({
          ...(row.payload as object),
          ...(secret && id !== undefined && { jti: id }),
          // refresh-rotation.ts decides whether a used refresh token is a replay.
          ...(row.consumedAt && model !== 'RefreshToken' && { consumed: Math.floor(row.consumedAt.getTime() / 1000) }),
        } as AdapterPayload)
      : undefined

  // oidc-provider looks an assertion up before it stores it. Of concurrent requests with one assertion only one may pass here.
  const useOnce: Adapter['upsert'] = async (id, payload, expiresIn) => {
    const expiresAt = new Date(now() + (expiresIn ?? 0) * 1000)
    await db.oauthRecord.deleteMany({ where: { model, id, expiresAt: { lte: new Date(now()) } } })
    const data = { model, id, payload: storablePayload(payload, false), expiresAt }
    const { count } = await db.oauthRecord.createMany({ data, skipDuplicates: true })
    if (count === 0) throw new errors.InvalidClientAuth('client assertion tokens must only be used once')
  }

  return {
    async upsert(id, payload, expiresIn) {
      if (model === 'ReplayDetection') return useOnce(id, payload, expiresIn)
      const stored = storablePayload(payload, secret)
      if (isNobodys(model, payload)) return
      const row = {
        payload: stored,
        grantId: payload.grantId ?? null,
        uid: model === 'Session' ? (payload.uid ?? null) : null,
        expiresAt: new Date(now() + (expiresIn ?? GRANT_SECONDS) * 1000),
      }
      await db.oauthRecord.upsert({ where: at(id), create: { model, id: keyOf(id), ...row }, update: row })
    },

    async find(id) {
      if (!isPostgresText(id)) return undefined
      return payloadOf(await db.oauthRecord.findUnique({ where: { ...at(id), AND: [live()] } }), id)
    },

    async findByUid(uid) {
      if (!isPostgresText(uid)) return undefined
      return payloadOf(await db.oauthRecord.findFirst({ where: { model, uid, ...live() } }))
    },

    findByUserCode: async () => undefined,

    // oidc-provider reads, checks and consumes in three steps. Of concurrent requests only one may pass here.
    async consume(id) {
      const { count } = await db.oauthRecord.updateMany({
        where: { model, id: keyOf(id), consumedAt: null },
        data: { consumedAt: new Date(now()) },
      })
      if (count === 0) throw new errors.InvalidGrant('already used')
    },

    async destroy(id) {
      if (model === 'Grant') return endGrants(db, [id], now())
      await db.oauthRecord.deleteMany({ where: { model, id: keyOf(id) } })
    },

    async revokeByGrantId(grantId) {
      await db.oauthRecord.deleteMany({ where: { model, grantId } })
    },
  }
}

/** Whether nobody has signed in: a request that the browser stores (sign-in-requests.ts), or an empty session. */
const isNobodys = (model: string, { prompt, accountId }: AdapterPayload) =>
  (model === 'Interaction' && prompt?.name === 'login') || (model === 'Session' && accountId === undefined)

/** Removes a secret id, and an interaction's session id. Throws for NUL, which jsonb refuses. */
function storablePayload({ jti, ...rest }: AdapterPayload, secret: boolean): Prisma.InputJsonObject {
  const text = JSON.stringify(secret ? rest : { jti, ...rest }, (name, value) =>
    name === 'cookie' ? undefined : value,
  )
  if (text.includes('\\u0000')) throw new errors.InvalidRequest('a parameter contains NUL')
  return JSON.parse(text)
}

/** Teams' clients, if they have redirect URIs, and first-party clients, if they have a secret or keys. */
function clients({ db }: Options): Adapter {
  const readOnly = async () => {
    throw new Error('clients are registered by npm run client')
  }
  return {
    async find(id) {
      if (!isPostgresText(id)) return undefined
      const client = await db.client.findUnique({
        where: { id },
        include: { team: true, app: { omit: { logo: true, wantedLogo: true } } },
      })
      if (client && !client.team) return firstPartyMetadata(client, ALLOWED_SCOPES) as AdapterPayload | undefined
      if (!client?.team || client.redirectUris.length === 0) return undefined
      return {
        client_id: client.id,
        client_name: client.name,
        application_type: client.type,
        redirect_uris: client.redirectUris,
        ...(await teamCredentials(db, client)),
        response_types: ['code'],
        // A redirect URI may have been removed since.
        [POST_LOGOUT_URIS]: client.postLogoutRedirectUris.filter((uri) => isBeside(uri, client.redirectUris)),
        [SUSPENDED]: isStopped({ team: client.team, app: client.app }),
        [SANDBOX]: client.environment === 'sandbox',
        [WAITING]: client.state === 'requested',
        [ALLOWED_SCOPES]: requestableScopes({ scopes: client.scopes, team: client.team, app: client.app }),
      }
    },
    upsert: readOnly,
    consume: readOnly,
    destroy: readOnly,
    revokeByGrantId: readOnly,
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
  }
}

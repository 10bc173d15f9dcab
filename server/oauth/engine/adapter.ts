import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { Database } from '../../../prisma/client.ts'
import type { IdTokenAlgorithm } from '../../../prisma/generated/enums.ts'
import { instant, int, jsonText, nullable, statement, text } from '../../../prisma/pg/statement.ts'
import { isPending } from '../../../routers/developer/reviews/stored.ts'
import { isDocumentAddress } from '../../../routers/developer/shared/document-address.ts'
import { isBeside } from '../../../routers/developer/shared/registration.ts'
import { isPostgresText } from '../../../routers/kernel/access.ts'
import { unix, unixMs } from '../../../routers/kernel/time.ts'
import { endGrants } from '../../../routers/kernel/withdraw.ts'
import {
  ALLOWED_SCOPES,
  POST_LOGOUT_URIS,
  requestableScopes,
  SANDBOX,
  SUSPENDED,
  WAITING,
} from '../consents/authorize-scopes.ts'
import { EXPIRED_DEVICE_CODE_SECONDS, GRANT_SECONDS } from '../keys/lifetimes.ts'
import { firstPartyMetadata, teamCredentials } from './client-credentials.ts'
import { endByMachine } from './device-codes.ts'
import { errors } from './oidc-provider.ts'
import type { Realm } from './realm.ts'
import { hashOfToken } from './refresh-rotation.ts'
import type { RegisteredClient } from './registered-client.ts'
import { registeredClient } from './registered-client.ts'

/** Models whose id is a credential: only its hash is stored, so that reading the database gives nobody access. */
const SECRET_ID = new Set(['AuthorizationCode', 'RefreshToken', 'AccessToken', 'DeviceCode', 'Session', 'Interaction'])

/** Times in Unix seconds, but `ends` in milliseconds. */
const columns = { payload: text, consumed: nullable(int), ends: nullable(int) }

const live = (condition: string) => `SELECT payload::text, ${unix('"consumedAt"')} AS consumed,
    ${unixMs('"expiresAt"')} AS ends
  FROM "OauthRecord" WHERE model = $model AND ${condition} AND ("expiresAt" IS NULL OR "expiresAt" > $now::timestamptz)`

/** Not through Prisma, with which a request for tokens takes 2.7 times the CPU time (npm run bench -- tokens). */
const statements = {
  find: statement('oauth_record', live('id = $id'), { model: text, id: text, now: instant }, columns),
  findByUid: statement('oauth_record_by_uid', live('uid = $uid'), { model: text, uid: text, now: instant }, columns),
  store: statement(
    'oauth_record_store',
    `INSERT INTO "OauthRecord" (model, id, payload, "grantId", uid, "expiresAt")
        VALUES ($model, $id, $payload::jsonb, $grantId, $uid, $expiresAt::timestamptz)
      ON CONFLICT (model, id) DO UPDATE SET payload = excluded.payload, "grantId" = excluded."grantId",
        uid = excluded.uid, "expiresAt" = excluded."expiresAt"`,
    { model: text, id: text, payload: jsonText, grantId: nullable(text), uid: nullable(text), expiresAt: instant },
    {},
  ),
  consume: statement(
    'oauth_record_consume',
    `UPDATE "OauthRecord" SET "consumedAt" = $now::timestamptz
      WHERE model = $model AND id = $id AND "consumedAt" IS NULL RETURNING id`,
    { model: text, id: text, now: instant },
    { id: text },
  ),
}

interface Options {
  db: Database
  now: () => number
  realm?: Realm
  /** For clients; without it their ID tokens are signed with ES256. */
  signsWith?: (algorithm: IdTokenAlgorithm) => boolean
  /** The service's own pages at which a sandbox client signs in without a registration. */
  references?: readonly string[]
}

/** One table has all of oidc-provider's records; its clients are the registered ones. */
export const adapterFactory =
  (options: Options) =>
  (model: string): Adapter =>
    model === 'Client' ? clients(options) : records(options, model)

function records({ db, now, realm }: Options, model: string): Adapter {
  const secret = SECRET_ID.has(model)
  const isDevice = model === 'DeviceCode'
  const toKey = (id: string) => (secret ? hashOfToken(id) : id)
  const instant = (ahead = 0) => now() + ahead * 1000

  const toPayload = (
    row: { payload: string; consumed: number | null; ends: number | null } | undefined,
    id?: string,
  ) => {
    // A device that polls twice at once keeps what the first poll got: its code never was in a browser, unlike others.
    if (!row || (isDevice && row.consumed !== null)) return undefined
    const { realm: itsRealm, ...payload } = JSON.parse(row.payload)
    if (itsRealm !== realm) return undefined
    return {
      ...payload,
      ...(secret && id !== undefined && { jti: id }),
      ...(isDevice && { exp: endByMachine(row.ends!, now()) }),
      // refresh-rotation.ts decides whether a used refresh token is a replay.
      ...(row.consumed !== null && model !== 'RefreshToken' && { consumed: row.consumed }),
    } as AdapterPayload
  }

  // oidc-provider looks an assertion up before it stores it. Of concurrent requests with one assertion only one may pass here.
  const useOnce: Adapter['upsert'] = async (id, payload, expiresIn) => {
    const expiresAt = new Date(now() + (expiresIn ?? 0) * 1000)
    await db.oauthRecord.deleteMany({ where: { model, id, expiresAt: { lte: new Date(now()) } } })
    const data = { model, id, payload: JSON.parse(storablePayload(payload, false)), expiresAt }
    const { count } = await db.oauthRecord.createMany({ data, skipDuplicates: true })
    if (count === 0) throw new errors.InvalidClientAuth('client assertion tokens must only be used once')
  }

  return {
    async upsert(id, payload, expiresIn) {
      if (model === 'ReplayDetection') return useOnce(id, payload, expiresIn)
      const stored = storablePayload({ ...payload, realm }, secret)
      if (isNobodys(model, payload)) return
      const expiresAt = instant((expiresIn ?? GRANT_SECONDS) + (isDevice ? EXPIRED_DEVICE_CODE_SECONDS : 0))
      await db.execute(statements.store, {
        model,
        id: toKey(id),
        payload: stored,
        grantId: payload.grantId ?? null,
        uid: findUid(model, payload),
        expiresAt,
      })
    },

    async find(id) {
      if (!isPostgresText(id)) return undefined
      const [row] = await db.execute(statements.find, { model, id: toKey(id), now: instant() })
      return toPayload(row, id)
    },

    async findByUid(uid) {
      if (!isPostgresText(uid)) return undefined
      const [row] = await db.execute(statements.findByUid, { model, uid, now: instant() })
      return toPayload(row)
    },

    findByUserCode: async () => undefined,

    // oidc-provider reads, checks and consumes in three steps. Of concurrent requests only one may pass here.
    async consume(id) {
      const used = await db.execute(statements.consume, { model, id: toKey(id), now: instant() })
      if (used.length === 0) throw new errors.InvalidGrant('already used')
    },

    async destroy(id) {
      if (model === 'Grant') return void (await endGrants(db, [id], now()))
      await db.oauthRecord.deleteMany({ where: { model, id: toKey(id) } })
    },

    async revokeByGrantId(grantId) {
      await db.oauthRecord.deleteMany({ where: { model, grantId } })
    },
  }
}

/** Whether nobody has signed in: a request that the browser stores (sign-in-requests.ts), or an empty session. */
const isNobodys = (model: string, { prompt, accountId }: AdapterPayload) =>
  (model === 'Interaction' && prompt?.name === 'login') || (model === 'Session' && accountId === undefined)

/** By which a record is found besides; of a device's user code, only the hash. */
const findUid = (model: string, { uid, userCode }: AdapterPayload) =>
  model === 'DeviceCode' ? hashOfToken(String(userCode)) : model === 'Session' ? (uid ?? null) : null

/** `cookie` is an interaction's session id. An ID token has been compared by then; an erasure would not find its member in it. */
const NOT_STORED = new Set(['cookie', 'userCode', 'id_token_hint'])

/** Removes a secret id and what is not stored. Throws for NUL, which jsonb refuses. */
function storablePayload({ jti, ...rest }: AdapterPayload, secret: boolean): string {
  const stored = JSON.stringify(secret ? rest : { jti, ...rest }, (name, value) =>
    NOT_STORED.has(name) ? undefined : value,
  )
  if (stored.includes('\\u0000')) throw new errors.InvalidRequest('a parameter contains NUL')
  return stored
}

/**
 * Its members are invented and its people are the team's own, so a token at the reference shows nobody's data. The page takes only an
 * answer to its own request, and sends a code with the verifier that it alone has.
 */
const takesReferences = ({ environment, type, authentication }: RegisteredClient) =>
  environment === 'sandbox' && type === 'web' && authentication === 'none'

/** Teams' clients, if they have redirect URIs or sign in on devices, and first-party clients, if they have a secret or keys. */
function clients({ db, signsWith, references = [] }: Options): Adapter {
  const readOnly = async () => {
    throw new Error('clients are registered by member-apps client')
  }
  return {
    async find(id) {
      // Its document has the metadata, not its row.
      if (!isPostgresText(id) || isDocumentAddress(id)) return undefined
      const client = await registeredClient(db, id)
      if (client && client.level === null)
        return firstPartyMetadata(client, ALLOWED_SCOPES) as AdapterPayload | undefined
      if (!client?.level || (client.redirectUris.length === 0 && !client.devices)) return undefined
      const { level, stopped, scopes } = client
      const redirectUris = takesReferences(client) ? [...client.redirectUris, ...references] : client.redirectUris
      return {
        client_id: client.id,
        client_name: client.name,
        application_type: client.type,
        redirect_uris: redirectUris,
        ...teamCredentials({ ...client, redirectUris }),
        response_types: redirectUris.length > 0 ? ['code'] : [],
        id_token_signed_response_alg: signsWith?.(client.idTokenAlgorithm) ? client.idTokenAlgorithm : 'ES256',
        // A redirect URI may have been removed since.
        [POST_LOGOUT_URIS]: client.postLogoutRedirectUris.filter((uri) => isBeside(uri, client.redirectUris)),
        [SUSPENDED]: stopped,
        [SANDBOX]: client.environment === 'sandbox',
        [WAITING]: isPending(client),
        [ALLOWED_SCOPES]: stopped ? [] : requestableScopes(scopes, level),
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

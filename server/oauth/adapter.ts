import { createHash } from 'node:crypto'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { Database } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'
import { isPostgresText } from '../../routers/access.ts'
import { requestableScopes } from './authorize-scopes.ts'
import { end } from './consents.ts'
import { errors } from './runtime.ts'

/** Whoever holds the id of one of these holds what it stands for: only a hash of it is kept, so the database tells nobody. */
const SECRET = new Set(['AuthorizationCode', 'RefreshToken', 'AccessToken', 'Session', 'Interaction'])

interface Parts {
  db: Database
  now: () => number
}

/** What oidc-provider keeps, in one table of Prisma's; its clients are ours. */
export const adapterFactory =
  (parts: Parts) =>
  (model: string): Adapter =>
    model === 'Client' ? clients(parts) : records(parts, model)

function records({ db, now }: Parts, model: string): Adapter {
  const secret = SECRET.has(model)
  const keyOf = (id: string) => (secret ? createHash('sha256').update(id).digest('base64url') : id)
  const at = (id: string) => ({ of: { model, id: keyOf(id) } })
  const live = () => ({ OR: [{ expiresAt: null }, { expiresAt: { gt: new Date(now()) } }] })

  const payloadOf = (row: { payload: unknown; consumedAt: Date | null } | null, id?: string) =>
    row
      ? ({
          ...(row.payload as object),
          ...(secret && id !== undefined && { jti: id }),
          ...(row.consumedAt && { consumed: Math.floor(row.consumedAt.getTime() / 1000) }),
        } as AdapterPayload)
      : undefined

  return {
    async upsert(id, payload, expiresIn) {
      const row = {
        payload: storablePayload(payload, secret),
        grantId: payload.grantId ?? null,
        uid: model === 'Session' ? (payload.uid ?? null) : null,
        expiresAt: expiresIn ? new Date(now() + expiresIn * 1000) : null,
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

    /** oidc-provider reads, looks and consumes in three steps; of many at once that have read, one alone gets by here. */
    async consume(id) {
      const { count } = await db.oauthRecord.updateMany({
        where: { model, id: keyOf(id), consumedAt: null },
        data: { consumedAt: new Date(now()) },
      })
      if (count === 0) throw new errors.InvalidGrant('already used')
    },

    async destroy(id) {
      if (model === 'Grant') return end(db, [id], now())
      await db.oauthRecord.deleteMany({ where: { model, id: keyOf(id) } })
    },

    async revokeByGrantId(grantId) {
      await db.oauthRecord.deleteMany({ where: { model, grantId } })
    },
  }
}

/** As JSON, which jsonb can hold all of but a NUL; without the secret itself, also of the session behind an interaction. */
function storablePayload({ jti, ...rest }: AdapterPayload, secret: boolean): Prisma.InputJsonObject {
  const text = JSON.stringify(secret ? rest : { jti, ...rest }, (name, value) =>
    name === 'cookie' ? undefined : value,
  )
  if (text.includes('\\u0000')) throw new errors.InvalidRequest('a parameter holds a NUL')
  return JSON.parse(text)
}

/** A registered client as a public one of its type. Without a team or redirect addresses it is none. */
function clients({ db }: Parts): Adapter {
  const readOnly = async () => {
    throw new Error('clients are registered by command')
  }
  return {
    async find(id) {
      if (!isPostgresText(id)) return undefined
      const client = await db.client.findUnique({ where: { id }, include: { team: true } })
      if (!client?.team || client.redirectUris.length === 0) return undefined
      return {
        client_id: client.id,
        client_name: client.name,
        application_type: client.type,
        redirect_uris: client.redirectUris,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        allowed_scopes: requestableScopes({ scopes: client.scopes, team: client.team }),
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

/** Removes what has run out, and says how much that was. A used refresh token stays until then: it tells of its reuse. */
export async function forgetExpiredRecords(db: Database, now: number): Promise<number> {
  const { count } = await db.oauthRecord.deleteMany({ where: { expiresAt: { lte: new Date(now) } } })
  return count
}

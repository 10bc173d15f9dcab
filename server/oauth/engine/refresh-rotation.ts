import { createHash, hkdfSync, randomBytes } from 'node:crypto'
import type { Context } from 'koa'
import type { KoaContextWithOIDC } from 'oidc-provider'
import type { Database } from '../../../prisma/client.ts'
import { float, int, statement, text } from '../../../prisma/pg/statement.ts'
import { lockMember, queueMemberMail } from '../../../routers/developer/mails/member-mails.ts'
import { endGrantsIn } from '../../../routers/kernel/withdraw.ts'
import { createCipher } from '../../secrets/cipher.ts'
import { REFRESH_TOKEN_SECONDS, REUSE_SECONDS } from '../keys/lifetimes.ts'

const SUCCESSOR = 'RefreshTokenSuccessor'

interface Options {
  db: Database
  now: () => number
  /** MEMBER_MAILS. */
  memberMails: boolean
  /** Called for each grant that a replay has ended. */
  replayed?: (() => void) | undefined
}

const statements = {
  /** One of several concurrent requests with one token, on any node, gets 1; the others wait for it and get 0. */
  rotate: statement(
    'refresh_token_rotate',
    `WITH used AS (UPDATE "OauthRecord" SET "consumedAt" = to_timestamp($at::float8)
          WHERE model = 'RefreshToken' AND id = $id AND "consumedAt" IS NULL RETURNING payload, "grantId"),
        issued AS (INSERT INTO "OauthRecord" (model, id, payload, "grantId", "expiresAt")
          SELECT 'RefreshToken', $successor,
            payload || jsonb_build_object('iat', floor($at::float8), 'exp', floor($at::float8) + ${REFRESH_TOKEN_SECONDS}),
            "grantId", to_timestamp($at::float8 + ${REFRESH_TOKEN_SECONDS}) FROM used),
        remembered AS (INSERT INTO "OauthRecord" (model, id, payload, "grantId", "expiresAt")
          SELECT '${SUCCESSOR}', $id, jsonb_build_object('id', $successor::text, 'encrypted', $encrypted::text), "grantId",
            to_timestamp($at::float8 + $reuseSeconds::float8) FROM used)
      SELECT count(*) AS rotated FROM used`,
    { id: text, successor: text, at: float, encrypted: text, reuseSeconds: float },
    { rotated: int },
  ),
  findUnused: statement(
    'refresh_token_successor',
    `SELECT kept.payload ->> 'encrypted' AS encrypted FROM "OauthRecord" kept
        JOIN "OauthRecord" issued ON issued.model = 'RefreshToken' AND issued.id = kept.payload ->> 'id'
        JOIN "OauthRecord" used ON used.model = 'RefreshToken' AND used.id = kept.id
      WHERE kept.model = '${SUCCESSOR}' AND kept.id = $id AND kept."expiresAt" > to_timestamp($at::float8)
        AND used."consumedAt" > to_timestamp($at::float8 - $reuseSeconds::float8) AND issued."consumedAt" IS NULL`,
    { id: text, at: float, reuseSeconds: float },
    { encrypted: text },
  ),
}

/**
 * Puts the successor of the request's refresh token into oidc-provider's answer, which has the same token again. A token that is
 * sent again before its successor was used gets the same successor: an answer may be lost, and two tabs may renew at once. A public
 * client has 60 s, as later two holders could share one grant unseen; one that authenticates has no limit. Otherwise it is a
 * replay, which ends the grant.
 */
export async function rotateRefreshToken(ctx: Context, { replayed, ...options }: Options): Promise<void> {
  const { oidc, status, body } = ctx as Context & Partial<KoaContextWithOIDC>
  if (oidc?.route !== 'token' || oidc.params?.grant_type !== 'refresh_token' || status !== 200) return
  const { jti, grantId, accountId } = oidc.entities.RefreshToken!
  const reuseSeconds = oidc.client!.clientAuthMethod === 'none' ? REUSE_SECONDS : REFRESH_TOKEN_SECONDS
  const successor = await findSuccessor(options.db, jti, { at: options.now() / 1000, reuseSeconds })
  if (successor !== undefined) {
    ;(body as { refresh_token: string }).refresh_token = successor
    return
  }
  if (await endReplayed(options, { grant: grantId!, person: accountId })) replayed?.()
  ctx.status = 400
  ctx.body = { error: 'invalid_grant', error_description: 'grant request is invalid' }
}

/** Ends the grant, unless it has ended before, with a mail to its member. */
const endReplayed = ({ db, now, memberMails }: Omit<Options, 'replayed'>, of: { grant: string; person: string }) =>
  db.$transaction(async (tx) => {
    if (memberMails) await lockMember(tx, of.person)
    const at = now()
    const isFirst = (await endGrantsIn(tx, [of.grant], at, true)) > 0
    if (memberMails && isFirst) await queueMemberMail(tx, { kind: 'accessReplayed', consent: of.grant, at })
    return isFirst
  })

interface Use {
  /** Unix time in seconds. */
  at: number
  reuseSeconds: number
}

/** Undefined when the token was used for anything but this successor. */
async function findSuccessor(db: Database, token: string, { at, reuseSeconds }: Use): Promise<string | undefined> {
  const id = hashOfToken(token)
  const cipher = createTokenCipher(token)
  const created = randomBytes(32).toString('base64url')
  const values = { id, successor: hashOfToken(created), at, encrypted: cipher.encrypt(created, id), reuseSeconds }
  const [{ rotated }] = (await db.execute(statements.rotate, values)) as [{ rotated: number }]
  if (rotated === 1) return created
  const [kept] = await db.execute(statements.findUnused, { id, at, reuseSeconds })
  return kept && cipher.decrypt(kept.encrypted, id)
}

/** A token is stored as its hash, so that reading the database gives nobody access. */
export const hashOfToken = (token: string) => createHash('sha256').update(token).digest('base64url')

/** The key is the token itself, which is not stored: the database and SECRETS_KEY together do not reveal its successor. */
const createTokenCipher = (token: string) =>
  createCipher([Buffer.from(hkdfSync('sha256', token, '', 'successor of a refresh token', 32))])

import { expect, it } from 'vitest'
import { AUDIENCE } from '../../../server/tokens/audience.ts'
import { chance, seed } from '../../support/chance.ts'
import { query } from '../../support/databases.ts'
import { times } from '../../support/rounds.ts'
import { endingAfterAll } from '../at-end.ts'
import { demoNodes } from './killed-node.ts'

const APPS = 12
const RENEWALS = times(400, 40)
const CLIENT = 'trainer-app'
const scope = 'svc.me.profile:read'
const AUTH_BASE_URL = 'http://auth.test/v1'

/** A sign-in of Anna's in each app: its refresh token is `first-N`, which is stored as its hash. */
const SIGNED_IN = `
  UPDATE "Client" SET environment = 'production', "redirectUris" = '{https://app.example/callback}' WHERE id = '${CLIENT}';
  CREATE TEMPORARY TABLE own AS SELECT n, 'grant-' || n AS id, extract(epoch FROM now())::int AS at,
      rtrim(translate(encode(sha256(('first-' || n)::bytea), 'base64'), '+/', '-_'), '=') AS token
    FROM generate_series(0, ${APPS - 1}) n;
  INSERT INTO "Consent" (id, "personId", "organisationId", "clientId", scopes)
    SELECT id, 'anna', 'riverside', '${CLIENT}', '{${scope}}' FROM own;
  INSERT INTO "OauthRecord" (model, id, "grantId", payload, "expiresAt")
    SELECT model, CASE model WHEN 'Grant' THEN id ELSE token END, CASE model WHEN 'RefreshToken' THEN id END,
      jsonb_build_object('kind', model, 'clientId', '${CLIENT}', 'accountId', 'anna', 'iat', at, 'exp', at + 3600)
        || CASE model WHEN 'Grant' THEN jsonb_build_object('jti', id, 'resources', jsonb_build_object('${AUDIENCE}', '${scope}'))
          ELSE jsonb_build_object('grantId', id, 'gty', 'authorization_code', 'scope', '${scope}', 'resource', '${AUDIENCE}')
        END,
      now() + interval '1 hour'
    FROM own, unnest('{Grant,RefreshToken}'::text[]) model`

const atEnd = endingAfterAll()

it(`apps stay signed in while two nodes are killed between their renewals, from one tab or two (seed ${seed})`, async () => {
  const nodes = await demoNodes(atEnd, { AUTH_BASE_URL })
  await query(nodes.databaseUrl, SIGNED_IN)
  let lost = 0
  const renew = async (refresh_token: string) => {
    const fields = { grant_type: 'refresh_token', client_id: CLIENT, refresh_token }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const sent = { host: 'auth.test', headers, form: new URLSearchParams(fields) }
    const { status, body } = await nodes.call('POST', '/oauth/token', sent, () => lost++)
    expect([status, body.error_description]).toEqual([200, undefined])
    return body as { refresh_token: string; access_token: string }
  }

  let running = APPS
  const apps = Array.from({ length: APPS }, async (_, n) => {
    const draw = chance(`tabs ${n}`)
    let last = { refresh_token: `first-${n}`, access_token: '' }
    for (let done = 0; done < RENEWALS; done++) {
      const tabs = await Promise.all(Array.from({ length: 1 + draw(2) }, () => renew(last.refresh_token)))
      expect(new Set(tabs.map(({ refresh_token }) => refresh_token)).size).toBe(1)
      last = tabs.at(-1)!
    }
    running--
    return last
  })
  const killing = nodes.killUntil(() => running === 0, 'kills', 1_000)
  const last = await Promise.all(apps)
  expect(await killing).toBeGreaterThan(1)
  expect(lost).toBeGreaterThan(0)
  for (const { access_token } of last) {
    const profile = await nodes.call('GET', '/me/profile', { headers: { authorization: `Bearer ${access_token}` } })
    expect([profile.status, profile.body.id]).toEqual([200, 'anna'])
  }
  const unused = `SELECT count(*)::int AS unused FROM "OauthRecord" WHERE model = 'RefreshToken' AND "consumedAt" IS NULL GROUP BY "grantId"`
  const rows = await query(nodes.databaseUrl, unused)
  expect(rows).toEqual(Array.from({ length: APPS }, () => ({ unused: 1 })))
})

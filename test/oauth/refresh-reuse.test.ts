import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashOfSecret, newClientSecret } from '../../routers/developer/secrets/client-secret.ts'
import { deleteExpiredRecords } from '../../server/oauth/engine/expired-records.ts'
import { housekeepingTasks } from '../../server/process/housekeeping.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { migratedDatabase } from '../support/databases.ts'
import { startedAround } from '../support/started.ts'
import { openTestDatabase } from '../support/test-database.ts'
import type { Tokens } from './auth-world.ts'
import { issuer, redirectUri, register, startAuthWorld } from './auth-world.ts'

const scope = 'svc.me.profile:read svc.me.groups:read'

// A database of its own: housekeeping weeks later takes the session of every test.
const auth = startedAround(async () => {
  const db = openTestDatabase(await migratedDatabase(afterAll))
  afterAll(() => db.$disconnect())
  return startAuthWorld({ db })
})
let client: string
let stranger: string
beforeAll(async () => {
  client = await register(auth.world)
  stranger = await register(auth.world)
})

const toTokens = () => auth.toTokens({ client, scope })
const renew = (token: string, more = {}) => auth.refresh(client, token, more)
const renewed = async (token: string): Promise<Tokens> => {
  const answer = await renew(token)
  expect(answer.status, answer.text).toBe(200)
  return answer.json
}
const isRefused = async (token: string) => {
  const { status, json } = await renew(token)
  expect([status, json]).toEqual([400, { error: 'invalid_grant', error_description: 'grant request is invalid' }])
}
const stored = async () => {
  const grants = await auth.world.db.consent.findMany({ where: { clientId: client } })
  return auth.world.db.oauthRecord.findMany({ where: { grantId: { in: grants.map(({ id }) => id) } } })
}

describe('a refresh token sent again', () => {
  it('within 60 s returns the same successor and a new access token', async () => {
    const first = await toTokens()
    const answered = await renewed(first.refresh_token)
    auth.world.advance(59)
    const again = await renewed(first.refresh_token)
    auth.world.advance(-59)
    expect(again).toEqual({ ...answered, access_token: expect.any(String) })
    expect(again.access_token).not.toBe(answered.access_token)
    expect(await auth.profileStatus(again.access_token)).toBe(200)
    await renewed(again.refresh_token)
  })

  it('within 60 s may ask for fewer scopes', async () => {
    const first = await toTokens()
    const answered = await renewed(first.refresh_token)
    const { json } = await renew(first.refresh_token, { scope: 'svc.me.groups:read' })
    expect(json).toMatchObject({ refresh_token: answered.refresh_token, scope: 'svc.me.groups:read' })
    expect((await renewed(answered.refresh_token)).scope).toBe(scope)
  })

  it.each<[string, (first: Tokens, second: Tokens) => Promise<unknown>]>([
    ['after 60 s', async () => auth.world.advance(60)],
    ['after its successor was used', (_, second) => renewed(second.refresh_token)],
  ])('%s ends its grant, the newer tokens included', async (_, before) => {
    const first = await toTokens()
    const second = await renewed(first.refresh_token)
    await before(first, second)
    await isRefused(first.refresh_token)
    await isRefused(second.refresh_token)
    // A node caches access for under 5 s.
    auth.world.advance(5)
    expect(await auth.profileStatus(second.access_token)).toBe(401)
  })

  it('by another client gets no tokens, and its own client still does', async () => {
    const first = await toTokens()
    const second = await renewed(first.refresh_token)
    const answer = await auth.refresh(stranger, first.refresh_token)
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_grant'])
    expect((await renewed(first.refresh_token)).refresh_token).toBe(second.refresh_token)
  })

  it('after its consent was withdrawn gets no tokens', async () => {
    const first = await toTokens()
    const second = await renewed(first.refresh_token)
    await auth.app.post(`${issuer}/revoke`, { client_id: client, token: first.refresh_token })
    await isRefused(first.refresh_token)
    await isRefused(second.refresh_token)
  })
})

describe('a refresh token of a client that authenticates', () => {
  const secret = newClientSecret()
  const authorization = (id: string) => ({
    authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
  })
  const renewAs = (id: string, refresh_token: string) =>
    auth.token({ grant_type: 'refresh_token', refresh_token }, authorization(id))
  async function signedIn() {
    const id = await register(auth.world, { authentication: 'client_secret' })
    const [createdAt, expiresAt] = [
      new Date(auth.world.now() * 1000),
      new Date((auth.world.now() + 90 * 86_400) * 1000),
    ]
    const data = { id: randomUUID(), clientId: id, hash: hashOfSecret(secret), createdAt, expiresAt }
    await auth.world.db.clientSecret.create({ data })
    const { code, verifier } = await auth.toCode({ client: id, scope })
    const fields = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri }
    const { json } = await auth.token(fields, authorization(id))
    return { id, first: json.refresh_token as string }
  }

  it.each([61, 3_600, 86_400, 20 * 86_400])(
    'returns the same successor %d s later, until that is used',
    async (seconds) => {
      const { id, first } = await signedIn()
      const { json: second } = await renewAs(id, first)
      auth.world.advance(seconds)
      await deleteExpiredRecords(auth.world.db, auth.world.core.now())
      const again = await renewAs(id, first)
      expect([again.status, again.json.refresh_token]).toEqual([200, second.refresh_token])
      expect((await renewAs(id, second.refresh_token)).status).toBe(200)
      expect((await renewAs(id, first)).status).toBe(400)
      expect((await renewAs(id, second.refresh_token)).status).toBe(400)
      auth.world.advance(-seconds)
    },
  )

  it('has 60 s once the client is public', async () => {
    const { id, first } = await signedIn()
    await renewAs(id, first)
    await auth.world.db.client.update({ where: { id }, data: { authentication: 'none' } })
    auth.world.advance(60)
    expect((await auth.refresh(id, first)).status).toBe(400)
    auth.world.advance(-60)
  })
})

describe('what is stored of refresh tokens', () => {
  it('names none of them', async () => {
    const first = await toTokens()
    const second = await renewed(first.refresh_token)
    const rows = JSON.stringify(await stored())
    expect(rows).toContain('encrypted')
    expect(rows).not.toContain(first.refresh_token)
    expect(rows).not.toContain(second.refresh_token)
  })

  it('has the successor for 60 s, and is looked through for expired records each minute', async () => {
    await renewed((await toTokens()).refresh_token)
    const rows = await stored()
    const kept = rows.filter(({ model }) => model === 'RefreshTokenSuccessor')
    expect(kept.length).toBeGreaterThan(0)
    for (const { id, expiresAt } of kept) {
      const { consumedAt } = rows.find((row) => row.model === 'RefreshToken' && row.id === id)!
      expect(Number(expiresAt) - Number(consumedAt)).toBe(60_000)
    }
    const tasks = housekeepingTasks(
      { keepDays: { consents: 1, events: 1 }, signingKeyDays: 90 },
      createCipher([Buffer.alloc(32)]),
    )
    expect(tasks.find(({ step }) => step === deleteExpiredRecords)!.every).toBe(60)
  })
})

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hashOfSecret, newClientSecret } from '../../routers/developer/secrets/client-secret.ts'
import { firstPartyScopes } from '../../routers/kernel/scopes.ts'
import { TOKEN_FAILURES } from '../../server/oauth/endpoints/token-limit.ts'
import type { AuthWorld } from '../oauth/auth-world.ts'
import { authWorld, issuer, redirectUri, register } from '../oauth/auth-world.ts'
import { times } from '../support/rounds.ts'
import { id } from '../support/tenant.ts'

const scope = 'svc.me.profile:read'
const secret = newClientSecret()
/** As in production, in `npm run verify`. */
const FAILURES = times(TOKEN_FAILURES, 20)

const auth = authWorld({ tokenFailures: FAILURES, trustedProxies: ['127.0.0.1'] })
let platform: string
let attacker = 0
/** The attacker's address, behind the proxy at 127.0.0.1; another one for each test. */
let from: Record<string, string>
beforeAll(async () => {
  platform = id('platform')
  const data = { name: 'P', environment: 'production' as const, scopes: firstPartyScopes }
  await auth.world.db.client.create({ data: { ...data, id: platform, secretHash: hashOfSecret(secret) } })
})
beforeEach(() => {
  from = { 'x-forwarded-for': `2001:db8:0:${(++attacker).toString(16)}::1` }
})

const toTokens = () => auth.toTokens({ client: auth.client, scope })
const guessCode = (headers = from, more = {}) =>
  auth.token(
    {
      grant_type: 'authorization_code',
      client_id: auth.client,
      redirect_uri: redirectUri,
      code: newClientSecret(),
      code_verifier: 'a'.repeat(43),
      ...more,
    },
    headers,
  )
const forPlatform = (word: string, headers: Record<string, string> = from) =>
  auth.token(
    { grant_type: 'client_credentials', organisation: auth.world.ids.provider, scope: firstPartyScopes.join(' ') },
    { ...headers, authorization: `Basic ${Buffer.from(`${platform}:${word}`).toString('base64')}` },
  )
const refresh = (refresh_token: string, headers = from) =>
  auth.token({ grant_type: 'refresh_token', client_id: auth.client, refresh_token }, headers)
const atOnce = <T>(count: number, run: () => Promise<T>) => Promise.all(Array.from({ length: count }, run))

describe('an address that guesses', () => {
  it.each<[string, () => ReturnType<AuthWorld['token']>, number]>([
    ['codes', () => guessCode(), 400],
    ['client secrets', () => forPlatform(newClientSecret()), 401],
    ['refresh tokens', () => refresh(newClientSecret()), 400],
    ['refresh tokens to revoke', () => auth.app.post(`${issuer}/revoke`, { client_id: 'x', token: 'y' }, from), 401],
  ])(`%s gets 429 after ${FAILURES} failures in a minute, also with all of them at once`, async (_, guess, status) => {
    const answers = await atOnce(FAILURES + 20, guess)
    const statuses = answers.map((answer) => answer.status)
    expect(statuses.filter((one) => one === status)).toHaveLength(FAILURES)
    expect(statuses.filter((one) => one === 429)).toHaveLength(20)
    const { headers, json } = answers.find((answer) => answer.status === 429)!
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60)
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'access-control-allow-origin': '*' })
    expect(json).toEqual({
      error: 'temporarily_unavailable',
      error_description: expect.stringMatching(/^too many failed requests; try again in \d+ s$/),
    })
  })

  it('is its /64: other addresses of it are counted with it, and those of others are not', async () => {
    await atOnce(FAILURES, () => guessCode())
    const subnet = from['x-forwarded-for']!.replace('::1', ':aaaa:bbbb:cccc:dddd')
    expect((await guessCode({ 'x-forwarded-for': subnet })).status).toBe(429)
    expect((await guessCode({ 'x-forwarded-for': '2001:db8:1::1' })).status).toBe(400)
    expect((await guessCode({ 'x-forwarded-for': `198.51.100.7, ${subnet}` })).status).toBe(429)
  })
})

describe('users at the address of an attacker', () => {
  it('sign in, renew and revoke as before', async () => {
    const tokens = await toTokens()
    const { member, club } = auth.world.ids
    const { code, verifier } = await auth.toCode({ client: auth.client, scope }, member, club)
    await atOnce(FAILURES + 5, () => guessCode())
    expect((await guessCode()).status).toBe(429)
    const renewed = await refresh(tokens.refresh_token)
    expect(renewed.status).toBe(200)
    expect((await guessCode(from, { code, code_verifier: verifier })).status).toBe(200)
    expect((await forPlatform(secret)).status).toBe(200)
    const revoke = (token: string) => auth.app.post(`${issuer}/revoke`, { client_id: auth.client, token }, from)
    expect((await revoke(renewed.json.refresh_token)).status).toBe(200)
    expect((await refresh(renewed.json.refresh_token)).status).toBe(429)
  })

  it('pass as the server of an app with a valid secret, also form-encoded, and not with an expired one', async () => {
    const client = await register(auth.world, { authentication: 'client_secret' })
    const [valid, expired] = [`-_${newClientSecret()}`, newClientSecret()]
    const [now, DAY_MS] = [auth.world.now() * 1000, 86_400_000]
    const row = (word: string, days: number) => ({
      id: id('secret'),
      clientId: client,
      hash: hashOfSecret(word),
      createdAt: new Date(now - 9 * DAY_MS),
      expiresAt: new Date(now + days * DAY_MS),
    })
    await auth.world.db.clientSecret.createMany({ data: [row(valid, 1), row(expired, -1)] })
    const ask = async (name: string, word: string) => {
      const authorization = `Basic ${Buffer.from(`${name}:${word}`).toString('base64')}`
      const fields = { grant_type: 'refresh_token', refresh_token: newClientSecret() }
      return (await auth.token(fields, { ...from, authorization })).status
    }
    const encoded = (text: string) => text.replaceAll('-', '%2D').replaceAll('_', '%5F')
    await atOnce(FAILURES + 5, () => guessCode())
    expect([await ask(client, valid), await ask(encoded(client), encoded(valid))]).toEqual([400, 400])
    expect([await ask(client, expired), await ask(client, newClientSecret())]).toEqual([429, 429])
  })
})

it('an attacker with a token of their own gets 429 as well, after as many failures with it', async () => {
  const { refresh_token } = await toTokens()
  await atOnce(FAILURES, () => guessCode())
  const wrongClient = () =>
    auth.token({ grant_type: 'refresh_token', client_id: platform, refresh_token, client_secret: 'x' }, from)
  const answers = await atOnce(FAILURES + 10, wrongClient)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(10)
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(FAILURES)
})

it('above the limit a body that is too large, empty, with a NUL or with an endless name gets 429', async () => {
  await atOnce(FAILURES, () => guessCode())
  for (const body of [
    `grant_type=refresh_token&refresh_token=${'a'.repeat(60_000)}`,
    '',
    'grant_type=refresh_token&refresh_token=a%00b',
    `grant_type=refresh_token&client_id=${'x'.repeat(300)}&client_secret=y`,
  ]) {
    expect((await auth.app.post(`${issuer}/token`, body, from)).status, body.slice(0, 60)).toBe(429)
  }
})

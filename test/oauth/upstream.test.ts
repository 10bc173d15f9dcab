import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { createUpstream } from '../../server/browser/login/upstream.ts'
import { findPersons, saveIdentity } from '../../server/browser/login/upstream-identity.ts'
import { id } from '../support/tenant.ts'
import { sharedDatabase } from '../support/world.ts'
import { createMember } from './members.ts'
import { browse, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, startProvider } from './openid-provider.ts'
import { startSilent } from './silent.ts'

type Provider = Awaited<ReturnType<typeof startProvider>>

/** A provider for this test, with the user `mia`. */
async function openProvider(options: Parameters<typeof startProvider>[0] = {}, { offsetMs = 0 } = {}) {
  const provider = await startProvider(options)
  onTestFinished(provider.stop)
  provider.accounts.set('mia', { email: 'Mia@example.org', email_verified: true })
  const clock = { offsetMs }
  const secret = options.clientAuth === 'none' ? {} : { clientSecret: CLIENT_SECRET }
  const upstream = createUpstream(
    { issuer: provider.issuer, clientId: CLIENT_ID, ...secret, name: 'Club account', redirectUri: REDIRECT_URI },
    () => Date.now() + clock.offsetMs,
  )
  return { provider, upstream, clock }
}

/** Signs in as `login` up to the browser's return. */
async function signInAs({ upstream }: Pick<Awaited<ReturnType<typeof openProvider>>, 'upstream'>, login = 'mia') {
  const { url, state } = await upstream.start()
  return { url: new URL(url), returned: await browse(url, login), state }
}

const changed = (state: string, change: Record<string, string>) => JSON.stringify({ ...JSON.parse(state), ...change })
const asked = (provider: Provider, path: string) => provider.requests.filter((one) => one === path).length

describe('signing in at an OpenID provider', () => {
  it.each([
    ['with a secret in the header', {}],
    ['with a secret in the body', { clientAuth: 'client_secret_post' }],
    ['without a secret', { clientAuth: 'none' }],
    ['from the ID token alone', { claimsInIdToken: true }],
  ] as const)('identifies the account, %s', async (_name, options) => {
    const { provider, upstream } = await openProvider(options)
    const { url, returned, state } = await signInAs({ upstream })
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: CLIENT_ID,
      redirect_uri: REDIRECT_URI,
      scope: 'openid email',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    expect(url.href).not.toContain(JSON.parse(state).verifier)
    expect(await upstream.finish(returned, state)).toEqual({
      issuer: provider.issuer,
      subject: 'mia',
      email: 'mia@example.org',
    })
    expect(asked(provider, '/me')).toBe('claimsInIdToken' in options ? 0 : 1)
    expect(upstream.name).toBe('Club account')
  })

  it('is prepared by a check, which reads the metadata that the first sign-in uses', async () => {
    const { provider, upstream } = await openProvider()
    await upstream.check()
    expect(provider.requests).toEqual(['/.well-known/openid-configuration'])
    await upstream.start()
    expect(provider.requests).toHaveLength(1)
  })

  it('uses the registered redirect URI, whatever the URL behind a proxy', async () => {
    const { upstream } = await openProvider()
    const { returned, state } = await signInAs({ upstream })
    const behindProxy = new URL(`http://10.0.0.1:3000/elsewhere${returned.search}`)
    expect(await upstream.finish(behindProxy, state)).toMatchObject({ subject: 'mia' })
  })

  it('uses an e-mail address only if it is verified', async () => {
    const { provider, upstream } = await openProvider()
    for (const account of [
      { email: 'mia@example.org', email_verified: false },
      { email: 'mia@example.org', email_verified: 'true' },
      { email: 'mia@example.org' },
      { email: 'Mia <mia@example.org>', email_verified: true },
      { email: 'mia@example.org\0', email_verified: true },
      { email_verified: true },
    ]) {
      provider.accounts.set('mia', account)
      const { returned, state } = await signInAs({ upstream })
      expect(await upstream.finish(returned, state)).toEqual({ issuer: provider.issuer, subject: 'mia', email: null })
    }
  })

  it('refuses a subject of more than 255 characters', async () => {
    const { provider, upstream } = await openProvider()
    for (const length of [255, 256]) provider.accounts.set('x'.repeat(length), {})
    const longest = await signInAs({ upstream }, 'x'.repeat(255))
    expect(await upstream.finish(longest.returned, longest.state)).toMatchObject({ subject: 'x'.repeat(255) })
    const longer = await signInAs({ upstream }, 'x'.repeat(256))
    await expect(upstream.finish(longer.returned, longer.state)).rejects.toThrow(/: the subject is longer than 255/)
  })

  it('refuses the state of another sign-in', async () => {
    const { provider, upstream } = await openProvider()
    const own = await signInAs({ upstream })
    const other = await signInAs({ upstream })
    for (const state of [other.state, changed(own.state, { state: 'x' })])
      await expect(upstream.finish(own.returned, state)).rejects.toThrow(/"state"/)
    for (const state of ['', 'null', '{}', own.state.slice(1), changed(own.state, { state: '' })])
      await expect(upstream.finish(own.returned, state)).rejects.toThrow(
        /: the state kept in the browser is not valid$/,
      )
    const stateless = new URL(own.returned)
    stateless.searchParams.delete('state')
    await expect(upstream.finish(stateless, own.state)).rejects.toThrow(/"state"/)
    expect(asked(provider, '/token')).toBe(0)
    expect(await upstream.finish(own.returned, own.state)).toMatchObject({ subject: 'mia' })
  })

  it('refuses the nonce or verifier of another sign-in', async () => {
    const { upstream } = await openProvider()
    const own = await signInAs({ upstream })
    const other = await signInAs({ upstream })
    const { nonce, verifier } = JSON.parse(other.state)
    await expect(upstream.finish(own.returned, changed(own.state, { nonce }))).rejects.toThrow(/"nonce"/)
    const second = await signInAs({ upstream })
    await expect(upstream.finish(second.returned, changed(second.state, { verifier }))).rejects.toThrow(/invalid_grant/)
    expect(await upstream.finish(other.returned, other.state)).toMatchObject({ subject: 'mia' })
  })

  it('refuses the code of another session', async () => {
    const { upstream } = await openProvider()
    const own = await signInAs({ upstream })
    const thief = await signInAs({ upstream }, 'thief')
    const injected = new URL(own.returned)
    injected.searchParams.set('code', thief.returned.searchParams.get('code')!)
    await expect(upstream.finish(injected, own.state)).rejects.toThrow(/invalid_grant/)
  })

  it('refuses the response of another issuer before sending a code', async () => {
    const { provider, upstream } = await openProvider()
    const attacker = await startProvider()
    onTestFinished(attacker.stop)
    const { url, state } = await upstream.start()
    const returned = await browse(`${attacker.issuer}/auth${new URL(url).search}`, 'mia')
    expect(returned.searchParams.get('iss')).toBe(attacker.issuer)
    await expect(upstream.finish(returned, state)).rejects.toThrow(/issuer|iss\b/)
    const nameless = new URL(returned)
    nameless.searchParams.delete('iss')
    await expect(upstream.finish(nameless, state)).rejects.toThrow(/issuer|iss\b/)
    expect(asked(provider, '/token') + asked(attacker, '/token')).toBe(0)
  })

  it('accepts a signature without a key id by any of the published keys that fit', async () => {
    const { provider, upstream } = await openProvider()
    await provider.publishUnnamedKeys()
    const { returned, state } = await signInAs({ upstream })
    expect(await upstream.finish(returned, state)).toMatchObject({ subject: 'mia' })
  })

  it('refuses a signature by an unpublished key', async () => {
    const { provider, upstream } = await openProvider()
    await provider.publishAnotherKey()
    const { returned, state } = await signInAs({ upstream })
    await expect(upstream.finish(returned, state)).rejects.toThrow(/signature verification failed/)
    expect(asked(provider, '/jwks')).toBeGreaterThan(0)
  })

  it('fails when the user refuses', async () => {
    const { provider, upstream } = await openProvider()
    const { state } = await upstream.start()
    const query = new URLSearchParams({ error: 'access_denied', state: JSON.parse(state).state, iss: provider.issuer })
    await expect(upstream.finish(new URL(`${REDIRECT_URI}?${query}`), state)).rejects.toThrow(/: access_denied$/)
  })

  it('tolerates a clock that is off by seconds, and no more', async () => {
    // The provider's ID tokens are valid for 60 seconds.
    const near = await openProvider({}, { offsetMs: 80_000 })
    const { returned, state } = await signInAs(near)
    expect(await near.upstream.finish(returned, state)).toMatchObject({ subject: 'mia' })
    const far = await openProvider({}, { offsetMs: 100_000 })
    const late = await signInAs(far)
    await expect(far.upstream.finish(late.returned, late.state)).rejects.toThrow(/"exp"/)
  })
})

describe('an OpenID provider', () => {
  it('that is down fails the sign-in, and works when it is back', async () => {
    const { provider, upstream } = await openProvider()
    await provider.stop()
    await expect(upstream.start()).rejects.toThrow()
    await expect(
      upstream.finish(new URL(`${REDIRECT_URI}?code=x&state=x`), '{"state":"x","nonce":"x","verifier":"x"}'),
    ).rejects.toThrow()
    await provider.comeBack()
    const { returned, state } = await signInAs({ upstream })
    await provider.stop()
    await expect(upstream.finish(returned, state)).rejects.toThrow()
    await provider.comeBack()
    expect(await upstream.finish(returned, state)).toMatchObject({ subject: 'mia' })
  })

  it('is discovered once an hour, also by concurrent sign-ins', async () => {
    const { provider, upstream, clock } = await openProvider()
    await Promise.all(Array.from({ length: 10 }, () => upstream.start()))
    expect(provider.requests).toEqual(['/.well-known/openid-configuration'])
    clock.offsetMs = 59 * 60_000
    await upstream.start()
    expect(provider.requests).toHaveLength(1)
    clock.offsetMs = 61 * 60_000
    await upstream.start()
    expect(provider.requests).toHaveLength(2)
  })

  it.each([
    ['metadata', '/.well-known/openid-configuration'],
    ['keys', '/jwks'],
    ['tokens', '/token'],
    ['user info', '/me'],
  ])('whose %s do not end is refused after 256 KiB', async (_name, path) => {
    const { provider, upstream } = await openProvider()
    if (path.startsWith('/.well-known')) {
      provider.answerEndlessly(path)
      await expect(upstream.start()).rejects.toThrow(/more than 262144 bytes/)
    } else {
      const { returned, state } = await signInAs({ upstream })
      provider.answerEndlessly(path)
      await expect(upstream.finish(returned, state)).rejects.toThrow(/more than 262144 bytes/)
    }
    expect(asked(provider, path)).toBe(1)
  })

  it('that names another issuer is refused', async () => {
    const { provider } = await openProvider()
    const settings = { clientId: CLIENT_ID, name: 'Club account', redirectUri: REDIRECT_URI }
    const issuer = provider.issuer.replace('127.0.0.1', 'localhost')
    await expect(createUpstream({ ...settings, issuer }, Date.now).start()).rejects.toThrow(/issuer/)
  })

  it('without https is refused unless it is loopback', () => {
    const settings = { clientId: CLIENT_ID, name: 'Club account', redirectUri: REDIRECT_URI }
    for (const issuer of ['http://id.example.org', 'http://127.0.0.1.example.org', 'http://10.0.0.1'])
      expect(() => createUpstream({ ...settings, issuer }, Date.now)).toThrow(/https/)
  })

  it('that does not respond times out', async () => {
    const port = await startSilent()
    const settings = { clientId: CLIENT_ID, name: 'Club account', redirectUri: REDIRECT_URI }
    await expect(createUpstream({ ...settings, issuer: `http://127.0.0.1:${port}` }, Date.now).start()).rejects.toThrow(
      /timeout/,
    )
  })
})

describe('an upstream account', () => {
  const issuer = 'https://id.example.org'

  let db: Database
  let email: string
  let member: string
  let subject: string
  beforeAll(() => {
    db = sharedDatabase()
  })
  beforeEach(async () => {
    email = `${id('mia')}@example.org`
    member = await createMember(db, { email })
    subject = id('subject')
  })

  const ids = (persons: { id: string }[]) => persons.map((person) => person.id)
  const candidates = (account: Parameters<typeof findPersons>[1]) => findPersons(db, account, Date.now())
  const leave = (person: string) =>
    db.membership.updateMany({ where: { personId: person }, data: { leftAt: new Date(Date.now() - 1) } })

  it('is matched by its verified address, in any case', async () => {
    const twin = await createMember(db, { email: email.toUpperCase(), firstName: 'Zoe' })
    const found = [
      { id: member, name: 'Mia Member' },
      { id: twin, name: 'Zoe Member' },
    ]
    expect(await candidates({ issuer, subject, email })).toEqual(found)
    expect(await candidates({ issuer, subject, email: email.toUpperCase() })).toEqual(found)
  })

  it('matches nobody without one', async () => {
    for (const other of [
      null,
      '',
      'nobody@example.org',
      '%',
      email.replace('mia', '%'),
      email.replace('m', '_'),
      `${email}\0`,
    ])
      expect(await candidates({ issuer, subject, email: other })).toEqual([])
  })

  it('matches nobody without a current membership', async () => {
    await createMember(db, { email, member: false })
    await createMember(db, { email, leftAt: new Date(Date.now() - 60_000) })
    expect(ids(await candidates({ issuer, subject, email }))).toEqual([member])
    await saveIdentity(db, { issuer, subject }, member)
    await leave(member)
    expect(await candidates({ issuer, subject, email })).toEqual([])
  })

  it('stays linked when the address changes', async () => {
    await saveIdentity(db, { issuer, subject }, member)
    const other = await createMember(db, { email: `${id('other')}@example.org` })
    const { email: otherEmail } = await db.person.findUniqueOrThrow({ where: { id: other } })
    for (const now of [otherEmail, null, email])
      expect(ids(await candidates({ issuer, subject, email: now }))).toEqual([member])
    await leave(member)
    expect(await candidates({ issuer, subject, email: otherEmail })).toEqual([])
  })

  it('is linked by provider and subject', async () => {
    await saveIdentity(db, { issuer, subject }, member)
    expect(await candidates({ issuer: 'https://other.example.org', subject, email: null })).toEqual([])
    expect(await candidates({ issuer, subject: subject.toUpperCase(), email: null })).toEqual([])
  })

  it('keeps its first link, also with concurrent ones', async () => {
    const other = await createMember(db, { email })
    await saveIdentity(db, { issuer, subject }, member)
    await Promise.all(
      Array.from({ length: 10 }, (_, n) => saveIdentity(db, { issuer, subject }, n % 2 ? other : member)),
    )
    expect(ids(await candidates({ issuer, subject, email }))).toEqual([member])
    expect(await db.loginIdentity.count({ where: { issuer, subject } })).toBe(1)
  })

  it('loses its link when the person is deleted', async () => {
    await saveIdentity(db, { issuer, subject }, member)
    await db.person.delete({ where: { id: member } })
    expect(await db.loginIdentity.count({ where: { issuer, subject } })).toBe(0)
    await expect(saveIdentity(db, { issuer, subject }, member)).rejects.toThrow()
  })
})

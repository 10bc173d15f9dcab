import { decodeProtectedHeader } from 'jose'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../prisma/client.ts'
import {
  deleteRetiredKeys,
  makeKey,
  RELOAD_MS,
  readKeys,
  revokeKey,
  rotateOldKeys,
} from '../../server/oauth/keys/signing-key-store.ts'
import type { SigningKeys } from '../../server/oauth/keys/signing-keys.ts'
import { openSigningKeys } from '../../server/oauth/keys/signing-keys.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { checkSecretsKey } from '../../server/secrets/keys.ts'
import { migratedDatabase } from '../support/databases.ts'
import { openTestDatabase } from '../support/test-database.ts'
import type { AuthWorld, Tokens } from './auth-world.ts'
import { issuer, twoNodes } from './auth-world.ts'

const MINUTE = 60_000
const scope = 'svc.me.profile:read'

const { here, there } = twoNodes()

const readKid = (token: string) => decodeProtectedHeader(token).kid
/** A client of another test may have chosen RS256 for its ID tokens. */
const isOfAccessTokens = ({ alg }: { alg?: string }) => alg === 'ES256'
const published = async ({ app }: AuthWorld) =>
  (await app.get(`${issuer}/jwks`)).json.keys.filter(isOfAccessTokens).map(({ kid }: { kid: string }) => kid)

/** Does the same as the keys command. */
async function rotate(delayMs: number) {
  const { db, secretsKeys, core } = here.world
  const key = await makeKey(createCipher(secretsKeys), new Date(core.now() + delayMs))
  await db.signingKey.create({ data: key })
  return key.kid
}

describe('a new signing key', () => {
  it('takes over on both nodes without refusing any token', async () => {
    const { client } = here
    let tokens = await here.toTokens({ client, scope })
    const first = readKid(tokens.access_token)
    const statuses: number[] = []
    const seen = new Set<string | undefined>()
    let done = false
    const work = async () => {
      while (!done) {
        const { json } = await here.refresh(client, tokens.refresh_token)
        tokens = json
        seen.add(readKid(tokens.access_token))
        for (const node of [here, there]) {
          statuses.push((await node.world.call('GET', '/me/profile', { token: tokens.access_token })).status)
        }
      }
    }
    const working = work()
    const next = await rotate(2 * MINUTE)
    await Promise.all([here, there].map(({ world }) => world.oauth!.reload()))
    // Published, but not signing yet.
    expect(await published(here)).toEqual([first, next])
    expect(await published(there)).toEqual([first, next])
    for (const node of [here, there]) node.world.advance(2 * 60)
    await expect.poll(() => seen.has(next)).toBe(true)
    // One node signs with it before the other has read it.
    const last = await rotate(0)
    await here.world.oauth!.reload()
    await expect.poll(() => seen.has(last)).toBe(true)
    done = true
    await working
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(seen).toEqual(new Set([first, next, last]))
  })

  it('keeps the old one until its last token has expired', async () => {
    const { db, secretsKeys, core } = here.world
    const [signing, ...old] = await published(here)
    expect(old).toHaveLength(2)
    const parts = { db, cipher: createCipher(secretsKeys) }
    expect(await deleteRetiredKeys({ ...parts, now: () => core.now() + 10 * MINUTE })).toBe(0)
    expect(await deleteRetiredKeys({ ...parts, now: () => core.now() + 20 * MINUTE })).toBe(2)
    await here.world.oauth!.reload()
    expect(await published(here)).toEqual([signing])
  })
})

describe('the published keys', () => {
  it('may be stored for half of the time in which a new one does not sign yet', async () => {
    const { status, headers, json } = await here.app.get(`${issuer}/jwks`)
    expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=60'])
    expect(json.keys[0]).not.toHaveProperty('d')
  })
})

describe('a signing key that has signed for 90 days', () => {
  it('has one successor, whatever the number of nodes, which signs once it is published', async () => {
    const { db, secretsKeys, core } = here.world
    const cipher = createCipher(secretsKeys)
    const [before] = await published(here)
    const store = (days: number) => ({ db, cipher, now: () => core.now() + days * 24 * 60 * MINUTE })
    const own = async () => (await readKeys({ db, cipher })).filter(({ jwk, kind }) => jwk && kind === 'ES256')
    await rotateOldKeys(store(89), 90)
    // Without its SECRETS_KEY nothing is known of it.
    await rotateOldKeys({ ...store(91), cipher: createCipher([Buffer.alloc(32, 1)]) }, 90)
    expect((await own()).map(({ kid }) => kid)).toEqual([before])
    await Promise.all(Array.from({ length: 4 }, () => rotateOldKeys(store(91), 90)))
    const [next, ...others] = await own()
    expect(others.map(({ kid }) => kid)).toEqual([before])
    expect(next!.signsFrom.getTime() - store(91).now()).toBeGreaterThan(MINUTE)
    await db.signingKey.delete({ where: { kid: next!.kid } })
  })
})

describe('the first signing key', () => {
  it('is created by one of several nodes that start together', async () => {
    const cipher = createCipher([Buffer.alloc(32, here.client)])
    const nodes: SigningKeys[] = []
    const dbs = Array.from({ length: 8 }, () => openTestDatabase(inject('databaseUrl')))
    nodes.push(
      ...(await Promise.all(dbs.map((db) => openSigningKeys({ db, cipher, now: Date.now, onError: () => {} })))),
    )
    const kids = nodes.map((keys) =>
      keys
        .current()
        .filter(isOfAccessTokens)
        .map(({ kid }) => kid),
    )
    expect(kids[0]).toHaveLength(1)
    expect(new Set(kids.map(String)).size).toBe(1)
    for (const keys of nodes) keys.close()
    await Promise.all(dbs.map((db) => db.$disconnect()))
  })
})

describe('a token with an unknown key', () => {
  it('is looked for at once and a second later, however many there are', async () => {
    const { secretsKeys } = here.world
    let loads = 0
    const none = () => {}
    const began = (statement: string) => void (statement === 'signing_keys' && loads++)
    const observer = { opened: none, waited: none, failed: none, timedOut: none, unconnected: none, began }
    // Not the shared database: where a client of another test chooses RS256, a load makes that key and reads the keys again.
    const db = openDatabase(await migratedDatabase(), none, { observer })
    onTestFinished(() => db.$disconnect())
    const options = { db, cipher: createCipher(secretsKeys), now: Date.now, onError: none, reloadMs: 2 ** 31 - 1 }
    const keys = await openSigningKeys(options)
    onTestFinished(keys.close)
    loads = 0
    const token = { payload: '', signature: '' }
    const looked = Array.from({ length: 20 }, async () =>
      Promise.resolve(keys.verify({ alg: 'ES256', kid: 'made-up' }, token)).catch(({ code }) => code),
    )
    expect(await Promise.all(looked)).toEqual(Array(20).fill('ERR_JWKS_NO_MATCHING_KEY'))
    expect(loads).toBe(2)
  })
})

const both = ({ access_token: token }: Tokens) => Promise.all([here.profileStatus(token), there.profileStatus(token)])
const reloadKeys = () => Promise.all([here, there].map(({ world }) => world.oauth!.reload()))

describe('a signing key that was removed', () => {
  it('is refused by every node once it has reloaded, with tokens that were remembered, and another one signs', async () => {
    const tokens = await here.toTokens({ client: here.client, scope })
    expect(await both(tokens)).toEqual([200, 200])
    const { kid } = decodeProtectedHeader(tokens.access_token)
    const { db, core, secretsKeys } = here.world
    const cipher = createCipher(secretsKeys)
    expect(await revokeKey({ db, cipher, now: core.now }, kid!)).toBe(true)
    expect(await revokeKey({ db, cipher, now: core.now }, kid!)).toBe(false)
    await reloadKeys()
    expect(await both(tokens)).toEqual([401, 401])

    for (const node of [here, there]) expect(await published(node)).not.toContain(kid)
    const { status, json } = await there.refresh(here.client, tokens.refresh_token)
    expect(status, JSON.stringify(json)).toBe(200)
    expect(decodeProtectedHeader(json.access_token).kid).not.toBe(kid)
    expect(await both(json)).toEqual([200, 200])
  })
})

/** In a database of their own. */
async function openKeys(reloadMs = RELOAD_MS) {
  const ends: (() => Promise<void>)[] = []
  const db = openTestDatabase(await migratedDatabase((end) => ends.push(end)))
  const errors: unknown[] = []
  const cipher = createCipher([Buffer.alloc(32, 1)])
  const onError = (error: unknown) => errors.push(error)
  const keys = await openSigningKeys({ db, cipher, now: Date.now, onError, reloadMs })
  onTestFinished(async () => {
    keys.close()
    await db.$disconnect()
    for (const end of ends) await end()
  })
  return { db, keys, errors }
}

describe('the signing keys', () => {
  it('are read again every 3 s', async () => {
    expect(RELOAD_MS).toBe(3_000)
    const { db, keys, errors } = await openKeys(10)
    const [first] = keys.current()
    await db.signingKey.deleteMany()
    await expect.poll(() => keys.current()[0]!.kid).not.toBe(first!.kid)
    expect(errors).toEqual([])
  })

  it('are made again when the last one was deleted', async () => {
    const { db, keys, errors } = await openKeys()
    const [first] = keys.current()
    const version = keys.version()
    await keys.reload()
    expect(keys.version()).toBe(version)
    await db.signingKey.deleteMany()
    await keys.reload()
    expect(keys.current().map(({ alg }) => alg)).toEqual(['ES256', 'RS256'])
    expect(keys.current()[0]!.kid).not.toBe(first!.kid)
    expect(keys.version()).not.toBe(version)
    expect(errors).toEqual([])
  })

  it('are made again when the last one that can be decrypted was deleted, unless the key is the one of before', async () => {
    const { db, keys } = await openKeys()
    const [first] = keys.current()
    const foreign = createCipher([Buffer.alloc(32, 2)])
    await db.signingKey.create({ data: await makeKey(foreign, new Date()) })
    await db.signingKey.delete({ where: { kid: first!.kid! } })
    await keys.reload()
    expect(keys.current()[0]!.kid).toEqual(expect.any(String))
    const count = await db.signingKey.count()
    expect(count).toBe(2)
    await checkSecretsKey(db, foreign)
    await db.signingKey.delete({ where: { kid: keys.current()[0]!.kid! } })
    await keys.reload()
    expect(await db.signingKey.count()).toBe(1)
  })
})

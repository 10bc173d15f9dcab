import { decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { RELOAD_MS, revokeKey } from '../../server/oauth/signing-key-store.ts'
import { openSigningKeys } from '../../server/oauth/signing-keys.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { migratedDatabase } from '../support/databases.ts'
import { openTestDatabase } from '../support/test-database.ts'
import type { AuthWorld, Tokens } from './auth-world.ts'
import { issuer, startAuthWorld } from './auth-world.ts'

const scope = 'svc.me.profile:read'

let here: AuthWorld
let there: AuthWorld
beforeAll(async () => {
  here = await startAuthWorld()
  there = await startAuthWorld({ like: here.world })
})
afterAll(() => Promise.all([here.world.close(), there.world.close()]))

const statusOf = async ({ world }: AuthWorld, { access_token: token }: Tokens) =>
  (await world.call('GET', '/me/profile', { token })).status
const both = (tokens: Tokens) => Promise.all([statusOf(here, tokens), statusOf(there, tokens)])
const reloadKeys = () => Promise.all([here, there].map(({ world }) => world.oauth!.reload()))
const published = async ({ app }: AuthWorld) =>
  (await app.get(`${issuer}/jwks`)).json.keys.map(({ kid }: { kid: string }) => kid)

describe('a signing key that was removed', () => {
  it('is refused by every node once it has reloaded, with tokens that were remembered, and another one signs', async () => {
    const { member, club } = here.world.ids
    const tokens = await here.toTokens({ client: here.client, scope }, member, club)
    expect(await both(tokens)).toEqual([200, 200])
    const { kid } = decodeProtectedHeader(tokens.access_token)
    const cipher = createCipher(here.world.secretsKeys)
    expect(await revokeKey({ db: here.world.db, cipher, now: Date.now }, kid!)).toBe(true)
    expect(await revokeKey({ db: here.world.db, cipher, now: Date.now }, kid!)).toBe(false)
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
    expect(keys.current()).toHaveLength(1)
    expect(keys.current()[0]!.kid).not.toBe(first!.kid)
    expect(keys.version()).not.toBe(version)
    expect(errors).toEqual([])
  })
})

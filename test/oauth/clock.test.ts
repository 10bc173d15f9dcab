import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { accessLookup } from '../../routers/kernel/access.ts'
import { listOrganisations } from '../../server/oauth/consents/consents.ts'
import { adapterFactory } from '../../server/oauth/engine/adapter.ts'
import { makeKey } from '../../server/oauth/keys/signing-key-store.ts'
import { openSigningKeys } from '../../server/oauth/keys/signing-keys.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { startAuthWorld } from './auth-world.ts'

/** The clock of these tests stands where they set it. */
const clock = { ms: 0 }
const now = () => clock.ms

const world = useWorld()

describe('at the millisecond of its end', () => {
  it.each(['AuthorizationCode', 'RefreshToken', 'Grant', 'Session', 'Interaction'])('%s is gone', async (model) => {
    const records = adapterFactory({ db: world.db, now })(model)
    const name = id('record')
    const start = Date.now()
    clock.ms = start
    await records.upsert(name, { kind: model, uid: name, accountId: 'member' }, 60)
    clock.ms = start + 59_999
    expect(await records.find(name)).toBeDefined()
    clock.ms = start + 60_000
    expect(await records.find(name)).toBeUndefined()
    expect(await records.findByUid(name)).toBeUndefined()
  })

  it('the id of an assertion can be used again, and not before', async () => {
    const used = adapterFactory({ db: world.db, now })('ReplayDetection')
    const jti = id('jti')
    const start = Date.now()
    clock.ms = start
    await used.upsert(jti, {}, 60)
    clock.ms = start + 59_999
    await expect(used.upsert(jti, {}, 60)).rejects.toThrow('invalid_client')
    clock.ms = start + 60_000
    await used.upsert(jti, {}, 60)
    await expect(used.upsert(jti, {}, 60)).rejects.toThrow('invalid_client')
  })

  it('a membership is over', async () => {
    const { club, member, client } = world.ids
    const end = Date.now() + 3_600_000
    const of = { organisationId: club, personId: member }
    await world.db.membership.update({ where: { of }, data: { leftAt: new Date(end) } })
    const memberAt = async (ms: number) => {
      const access = await accessLookup(world.db, () => ms)({ ...world.principal(), client })
      const clubs = await listOrganisations(world.db, member, ['club'], ms)
      return [access!.memberOf, clubs.map((one) => one.id)]
    }
    expect(await memberAt(end - 1)).toEqual(['club', [club]])
    expect(await memberAt(end)).toEqual([null, []])
    await world.db.membership.update({ where: { of }, data: { leftAt: null } })
  })
})

describe('access', () => {
  it('is remembered for 4 s and no longer', async () => {
    const client = id('client')
    const { team } = world.ids
    await world.db.client.create({ data: { id: client, name: 'C', teamId: team, environment: 'production' } })
    clock.ms = 1_000_000
    const findAccess = accessLookup(world.db, now)
    const sandbox = async (ms: number) => {
      clock.ms = 1_000_000 + ms
      return (await findAccess(world.principal({ client })))!.sandbox
    }
    expect(await sandbox(0)).toBe(false)
    await world.db.client.update({ where: { id: client }, data: { environment: 'sandbox' } })
    expect(await sandbox(4_000)).toBe(false)
    expect(await sandbox(4_001)).toBe(true)
  })

  it.each([1_500, 4_000, 60_000])('is remembered for 4 s from the start of a look-up that takes %i ms', async (ms) => {
    const { member } = world.ids
    const of = { personId: member }
    clock.ms = Date.now()
    const start = clock.ms
    const findAccess = accessLookup(world.db, now)
    const looked = findAccess(world.principal())
    clock.ms = start + ms
    expect((await looked)!.memberOf).toBe('club')
    await world.db.membership.updateMany({ where: of, data: { leftAt: new Date(start) } })
    clock.ms = start + Math.max(ms + 1, 4_000) + 1
    expect((await findAccess(world.principal()))!.memberOf).toBeNull()
    await world.db.membership.updateMany({ where: of, data: { leftAt: null } })
  })

  it.each([1, 3_600])("is remembered for 4 s also where the database's clock goes back by %i s", async (seconds) => {
    const of = { personId: world.ids.member }
    const start = Date.now()
    clock.ms = start
    let passed = 1
    const findAccess = accessLookup(world.db, now, () => passed)
    expect((await findAccess(world.principal()))!.memberOf).toBe('club')
    await world.db.membership.updateMany({ where: of, data: { leftAt: new Date(0) } })
    passed += 4_001
    clock.ms = start - seconds * 1_000
    expect((await findAccess(world.principal()))!.memberOf).toBeNull()
    await world.db.membership.updateMany({ where: of, data: { leftAt: null } })
  })
})

describe('a new signing key', () => {
  it('signs from the millisecond that was set', async () => {
    const cipher = createCipher([Buffer.alloc(32, id('secret'))])
    const start = Date.now()
    clock.ms = start
    const keys = await openSigningKeys({ db: world.db, cipher, now, onError: () => {} })
    const next = await makeKey(cipher, new Date(start + 1_000))
    await world.db.signingKey.create({ data: next })
    await keys.reload()
    const signing = (ms: number) => {
      clock.ms = start + ms
      return keys.current()[0]!.kid
    }
    expect(signing(999)).not.toBe(next.kid)
    expect(signing(1_000)).toBe(next.kid)
    keys.close()
  })
})

const HOURS_S = 7_200

// The clock that is moved is the database's, by which a node goes; oidc-provider has that of the machine.
it.each([HOURS_S, -HOURS_S])(
  'a node whose clock is %i s off issues tokens that hold by the right one',
  async (seconds) => {
    const { world, client, toTokens, refresh } = await startAuthWorld()
    world.advance(seconds)
    const before = world.now()
    const tokens = await toTokens({ client, scope: 'svc.me.profile:read' })
    const renewed = (await refresh(client, tokens.refresh_token)).json
    for (const { access_token: token, expires_in } of [tokens, renewed]) {
      const { iat, exp } = decodeJwt(token)
      expect(exp! - iat!).toBe(expires_in)
      // Two readings of seconds, rounded.
      expect(iat).toBeGreaterThanOrEqual(before - 1)
      expect(iat).toBeLessThanOrEqual(world.now() + 1)
      expect((await world.call('GET', '/me/profile', { token })).status).toBe(200)
    }
    await world.close()
  },
)

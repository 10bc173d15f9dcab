import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { accessLookup } from '../../routers/kernel/access.ts'
import { consentsOf } from '../../server/oauth/consents/consents.ts'
import type { Tokens } from './auth-world.ts'
import { authWorld } from './auth-world.ts'
import { createMember } from './members.ts'

const DAY = 86_400
const YEAR_MS = 365 * DAY * 1000
const scope = 'svc.me.profile:read'

const auth = authWorld()

it('a consent ends a year after it was given, however often its tokens are renewed', async () => {
  const { client, world, toTokens, refresh } = auth
  let tokens: Tokens = await toTokens({ client, scope }, world.ids.member, world.ids.club)
  const renew = async () => {
    const { status, json } = await refresh(client, tokens.refresh_token)
    if (status === 200) tokens = json
    return json.error ?? status
  }
  const profile = async () => (await world.call('GET', '/me/profile', { token: tokens.access_token })).status
  for (let days = 0; days < 364; days += 28) {
    expect(await renew()).toBe(200)
    world.advance(28 * DAY)
  }
  // The day before its end.
  expect(await renew()).toBe(200)
  world.advance(DAY)
  expect(await renew()).toBe('invalid_grant')
  expect(await profile()).toBe(401)
})

it('a consent is in force until the millisecond of its end, for tokens and at Connected apps', async () => {
  const { client, world, toTokens } = auth
  const member = await createMember(world.db, { email: 'mia@example.org' })
  const { organisationId: organisation } = await world.db.membership.findFirstOrThrow({ where: { personId: member } })
  const { access_token } = await toTokens({ client, scope }, member, organisation)
  const grant = String(decodeJwt(access_token).gid)
  const { createdAt } = await world.db.consent.findUniqueOrThrow({ where: { id: grant } })
  const end = createdAt.getTime() + YEAR_MS
  const principal = { member, organisation, client, grant, scopes: new Set<string>() }
  const inForce = async (now: number) => [
    (await accessLookup(world.db, () => now)(principal)) !== null,
    (await consentsOf(world.db, member, now)).length === 1,
  ]
  expect(await inForce(end - 1)).toEqual([true, true])
  expect(await inForce(end)).toEqual([false, false])
})

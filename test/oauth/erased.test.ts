import { describe, expect, it } from 'vitest'
import { organisationsOf } from '../../server/oauth/consents/consents.ts'
import { asPlatform } from '../support/platform.ts'
import { authWorld, register } from './auth-world.ts'
import { deviceFlow } from './device-world.ts'
import { createMember } from './members.ts'
import { api, everything } from './openid-world.ts'

const scope = 'svc.me.profile:read'

const auth = authWorld()

describe('a person who is erased', () => {
  it('is signed out, and tokens, codes and sessions stay dead when the platform brings the person back', async () => {
    const { world, client } = auth
    const { db } = world
    const person = await createMember(db, { email: 'mia@example.org' })
    const club = (await organisationsOf(db, person, ['club'], Date.now()))[0]!.id
    const browser = auth.newBrowser()
    const tokens = await auth.toTokens({ client, scope }, person, club, browser)
    const { code, verifier } = await auth.toCode({ client, scope, more: { prompt: 'consent' } }, person, club, browser)
    const profile = async () => {
      world.advance(5)
      const { status, body } = await world.call('GET', '/me/profile', { token: tokens.access_token })
      return [status, body.error?.message]
    }
    const signsIn = async () =>
      (await browser.open(auth.authorizeUrl({ client, scope }).url)).text.includes('name="member"')
    expect(await profile()).toEqual([200, undefined])
    expect(await signsIn()).toBe(false)
    const ids = { where: { id: person } }
    const row = await db.person.findUniqueOrThrow({ ...ids, include: { memberships: true } })

    const { removed } = await asPlatform(world).directory.people.erase({ id: person })
    expect(removed).toMatchObject({ consents: 2, sessions: 1 })

    const expectSignedOut = async () => {
      expect(await profile()).toEqual([401, 'This token is not valid.'])
      const renewed = await auth.refresh(client, tokens.refresh_token)
      expect([renewed.status, renewed.json.error]).toEqual([400, 'invalid_grant'])
      const exchanged = await auth.exchange(client, code, verifier)
      expect([exchanged.status, exchanged.json.error]).toEqual([400, 'invalid_grant'])
      expect(await signsIn()).toBe(true)
    }
    await expectSignedOut()
    const { memberships, ...own } = row
    await db.person.create({ data: own })
    await db.membership.createMany({ data: memberships })
    await expectSignedOut()
  })

  it('is in no code that a device has begun, whatever names them there', async () => {
    const { world } = auth
    const client = await register(world, { devices: true, scopes: everything.split(' ') })
    const person = await createMember(world.db, { email: 'Mia.Device@example.org' })
    const club = (await organisationsOf(world.db, person, ['club'], Date.now()))[0]!.id
    const flow = deviceFlow(auth)
    const first = await flow.begin(client, 'openid')
    await flow.allow(first.user_code, 'openid', person, club)
    const { id_token: idToken } = (await flow.poll(client, first.device_code)).json
    const begin = (more: Record<string, string>) => flow.begin(client, `openid ${api}`, more)
    const codes = [
      await begin({ login_hint: 'mia.device@EXAMPLE.org' }),
      await begin({ login_hint: person }),
      await begin({ id_token_hint: idToken }),
      await begin({ login_hint: 'other@example.org' }),
    ]
    const stored = () => world.db.oauthRecord.findMany({ where: { payload: { path: ['clientId'], equals: client } } })
    expect(await stored()).not.toEqual([])
    expect(JSON.stringify(await stored())).not.toContain(idToken)

    await asPlatform(world).directory.people.erase({ id: person })
    expect(JSON.stringify(await stored())).not.toMatch(new RegExp(`mia\\.device|${person}`, 'i'))
    const polled = await Promise.all(codes.map(({ device_code }) => flow.poll(client, device_code)))
    const [pending, gone] = ['authorization_pending', 'invalid_grant']
    expect(polled.map(({ json }) => json.error)).toEqual([gone, gone, pending, pending])
  })
})

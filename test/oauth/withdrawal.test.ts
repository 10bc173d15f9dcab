import { beforeAll, describe, expect, it } from 'vitest'
import type { AuthWorld } from './auth-world.ts'
import { issuer, register, twoNodes } from './auth-world.ts'
import type { Browser } from './browser.ts'
import { offered } from './browser.ts'

const connected = `${issuer}/connected`
const scope = 'svc.me.profile:read svc.me.groups:read'

const { here, there } = twoNodes()
let client: string
beforeAll(() => {
  client = here.client
})

const statusAt = async ({ world }: AuthWorld, token: string) =>
  (await world.call('GET', '/me/profile', { token })).status

const signedIn = async (member = here.world.ids.member): Promise<Browser> => {
  const browser = here.newBrowser()
  await browser.submit(await browser.open(connected), 'pick', { member })
  return browser
}
const consents = (node: AuthWorld) => node.world.db.consent.findMany({ where: { clientId: client, withdrawnAt: null } })

describe('a member at Connected apps', () => {
  it('withdraws an app: within 5 s every node refuses its tokens for that club and refreshes none', async () => {
    const { world, toTokens } = here
    const { member, club } = world.ids
    const phone = await toTokens({ client, scope }, member, club)
    const laptop = await there.toTokens({ client, scope }, member, club)
    for (const node of [here, there]) {
      for (const { access_token } of [phone, laptop]) expect(await statusAt(node, access_token)).toBe(200)
    }
    const other = await register(world)
    const kept = await toTokens({ client: other, scope }, member, club)

    const browser = await signedIn()
    const list = await browser.open(connected)
    const rows = await world.db.consent.findMany({ where: { clientId: client } })
    const consent = offered(list, 'consent').find((one) => rows.some(({ id }) => id === one))!
    const after = await browser.submit(list, 'withdraw', { consent })
    expect(offered(after, 'consent')).toHaveLength(1)

    // A node caches access for under 5 s.
    for (const node of [here, there]) {
      node.world.advance(5)
      for (const { access_token } of [phone, laptop]) expect(await statusAt(node, access_token)).toBe(401)
    }
    for (const { refresh_token } of [phone, laptop]) {
      expect(await there.refresh(client, refresh_token)).toMatchObject({
        status: 400,
        json: { error: 'invalid_grant' },
      })
    }
    expect(await consents(here)).toEqual([])
    const grants = { in: rows.map(({ id }) => id) }
    const left = { OR: [{ grantId: grants }, { model: 'Grant', id: grants }] }
    expect(await world.db.oauthRecord.count({ where: left })).toBe(0)
    expect(await statusAt(there, kept.access_token)).toBe(200)
    expect((await here.refresh(other, kept.refresh_token)).status).toBe(200)
  })

  it('cannot withdraw another member’s consent, nor signed out, nor from another site, which signs nobody out either', async () => {
    const { world, toTokens } = here
    const tokens = await toTokens({ client, scope }, world.ids.member, world.ids.club)
    const consent = (await consents(here))[0]!.id
    const stranger = await world.db.person.create({
      data: { id: `stranger-${client}`, firstName: 'S', lastName: 'T', email: 's@example.org' },
    })
    const strangers = await signedIn(stranger.id)
    expect((await strangers.post(`${connected}/withdraw`, { consent })).status).toBe(404)
    expect((await strangers.post(`${connected}/withdraw`, { consent: 'a\0b' })).status).toBe(404)
    expect((await here.newBrowser().post(`${connected}/withdraw`, { consent })).location!.href).toBe(connected)
    const own = await signedIn()
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      expect((await own.post(`${connected}/withdraw`, { consent }, headers)).status).toBe(403)
      expect((await own.post(`${connected}/sign-out`, {}, headers)).status).toBe(403)
    }
    expect((await own.open(connected)).text).not.toContain('Sign in')
    expect((await consents(here)).map(({ id }) => id)).toEqual([consent])
    expect(await statusAt(there, tokens.access_token)).toBe(200)
  })
})

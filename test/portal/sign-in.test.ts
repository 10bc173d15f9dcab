import { beforeEach, describe, expect, it } from 'vitest'
import { redirect } from '../developer/team-world.ts'
import { portal, portalWorld } from './portal-world.ts'

const team = portalWorld()
let client: string
beforeEach(async () => {
  client = (await team.sandbox()).id
})

const settings = () => `${team.clientAt(client)}/sign-in/settings`
const rename = (name: string, more = '') => ({ version: '0', name, redirectUris: `${redirect}\n${more}` })
const nameNow = async () => (await team.world.db.client.findUniqueOrThrow({ where: { id: client } })).name

describe('a change', () => {
  it('within 15 minutes of the sign-in is made', async () => {
    const browser = await team.signIn(team.owner)
    team.world.advance(14 * 60)
    expect((await browser.post(settings(), rename('Early'))).location?.href).toBe(
      `${team.clientAt(client)}/sign-in?done=saved`,
    )
    expect(await nameNow()).toBe('Early')
  })

  it('after 15 minutes asks to sign in again, and is then made once', async () => {
    const browser = await team.signIn(team.owner)
    team.world.advance(16 * 60)
    expect((await browser.get(`${team.clientAt(client)}/sign-in`)).status).toBe(200)
    const asked = await browser.post(settings(), rename('Late'))
    expect([asked.status, asked.location?.href]).toEqual([303, `${portal}/sign-in`])
    expect(await nameNow()).toBe('Sandbox')
    const done = await browser.submit(await browser.follow(asked), 'pick', { member: team.owner })
    expect(done.text).toContain('Saved.')
    expect(await nameNow()).toBe('Late')
    await team.world.db.client.update({ where: { id: client }, data: { name: 'Since', version: 0 } })
    expect((await browser.open(`${portal}/continue`)).url.href).toBe(portal)
    expect(await nameNow()).toBe('Since')
  })

  it('after 15 minutes is made once also where "Sign in" is clicked twice', async () => {
    const browser = await team.signIn(team.owner)
    team.world.advance(16 * 60)
    const asked = await browser.open((await browser.post(settings(), rename('Late'))).location!)
    // The browser drops the first answer.
    await browser.post(`${portal}/sign-in/pick`, { member: team.owner })
    const done = await browser.submit(asked, 'pick', { member: team.owner })
    expect([done.text.includes('Saved.'), await nameNow()]).toEqual([true, 'Late'])
    expect((await browser.submit(asked, 'pick', { member: team.owner })).url.href).toBe(portal)
  })

  it('is not made when another person signs in', async () => {
    const browser = await team.signIn(team.owner)
    team.world.advance(16 * 60)
    const asked = await browser.open((await browser.post(settings(), rename('Late'))).location!)
    const done = await browser.submit(asked, 'pick', { member: team.colleague })
    expect(done.url.href).toBe(portal)
    expect((await browser.open(`${portal}/continue`)).url.href).toBe(portal)
    expect(await nameNow()).toBe('Sandbox')
  })

  it('that is refused after the sign-in shows why, and what was typed', async () => {
    const browser = await team.signIn(team.owner)
    team.world.advance(16 * 60)
    const name = 'x'.repeat(101)
    const asked = await browser.open((await browser.post(settings(), rename(name))).location!)
    const done = await browser.submit(asked, 'pick', { member: team.owner })
    expect(done.status).toBe(400)
    expect(done.text).toContain(`value="${name}"`)
    expect(await nameNow()).toBe('Sandbox')
  })

  it('too long to be stored is shown as it was typed, with a link to sign in, and works after that', async () => {
    const browser = await team.signIn(team.owner)
    team.world.advance(16 * 60)
    const fields = rename(
      'Long',
      Array.from({ length: 5 }, (_, n) => `https://app.example/${n}${'x'.repeat(1_000)}`).join('\n'),
    )
    const asked = await browser.post(settings(), fields)
    expect(asked.status).toBe(403)
    expect(asked.text).toContain(`<a href="/v1/oauth/developers/sign-in" target="_blank" rel="noopener">`)
    for (const typed of ['value="Long"', 'https://app.example/4xxx']) expect(asked.text).toContain(typed)
    expect(await nameNow()).toBe('Sandbox')
    await browser.submit(await browser.open(`${portal}/sign-in`), 'pick', { member: team.owner })
    expect((await browser.post(settings(), fields)).location?.search).toBe('?done=saved')
    expect(await nameNow()).toBe('Long')
  })
})

describe('signing out', () => {
  it('ends the session', async () => {
    const browser = await team.signIn(team.owner)
    await browser.post(`${portal}/sign-out`, {})
    expect((await browser.get(portal)).location?.href).toBe(`${portal}/sign-in`)
  })
})

describe('the platform’s client', () => {
  it('is there with its two scopes, and has no credentials', async () => {
    const found = await team.world.db.client.findUniqueOrThrow({ where: { id: 'developer-portal' } })
    const none = { teamId: null, appId: null, secretHash: null, jwks: null, redirectUris: [] }
    expect(found).toMatchObject({ ...none, scopes: ['dev:read', 'dev:write'] })
  })
})

import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_FORM_BYTES } from '../../server/portal/forms/form-size.ts'
import { issuer } from '../oauth/auth-world.ts'
import { sentForm } from '../support/sent-form.ts'
import { portalWorld } from './portal-world.ts'

const team = portalWorld()
beforeEach(async () => {
  await team.world.db.client.deleteMany({ where: { appId: team.world.ids.app } })
})

const longUris = (path: string) =>
  Array.from({ length: 50 }, (_, n) => `https://app.example/${path}/${n}/`.padEnd(2_048, '%C3%BC').replace(/%.?$/, 'x'))

describe('a form within the limits of the portal', () => {
  it('asks for production with the longest purpose of every scope', async () => {
    const { scopes } = await team.as(team.owner).teams.summary({ team: team.world.ids.team })
    const { id } = await team.sandbox({ scopes })
    const page = `${team.clientAt(id)}/production`
    const form = sentForm((await team.asOwner.get(page)).text, 'request')
    for (const scope of scopes) form.set(`purpose.${scope}`, 'ü'.repeat(1_000))
    expect(`${form}`.length).toBeGreaterThan(50_000)
    const { status, location } = await team.asOwner.post(`${page}/request`, `${form}`)
    expect(status).toBe(303)
    const made = decodeURIComponent(location!.pathname.split('/').at(-1)!)
    const { purpose } = await team.world.db.client.findUniqueOrThrow({ where: { id: made } })
    expect(purpose).toEqual(Object.fromEntries(scopes.map((scope) => [scope, 'ü'.repeat(1_000)])))
  })

  it('changes the name of a client with 50 redirect URIs of 2,048 characters, and 25 for signing out', async () => {
    const redirectUris = longUris('in')
    const { id, version } = await team.sandbox({ redirectUris, scopes: ['openid'] })
    const postLogoutRedirectUris = longUris('out').slice(25)
    await team.as(team.owner).clients.update({ client: id, version, postLogoutRedirectUris })
    const page = `${team.clientAt(id)}/sign-in`
    const form = sentForm((await team.asOwner.get(page)).text, 'settings')
    form.set('name', 'Many')
    expect((await team.asOwner.post(`${page}/settings`, `${form}`)).location?.search).toBe('?done=saved')
    const stored = await team.world.db.client.findUniqueOrThrow({ where: { id } })
    expect(stored).toMatchObject({ name: 'Many', redirectUris, postLogoutRedirectUris })
    expect(new Set(stored.redirectUris.map(({ length }) => length))).toEqual(new Set([2_048]))
  })
})

describe('a larger form', () => {
  it('of the portal is refused with its bound', async () => {
    const { status, text } = await team.asOwner.post(`${team.app}/settings/details`, 'a'.repeat(MAX_FORM_BYTES + 1))
    expect([status, text.includes(`The form is larger than ${MAX_FORM_BYTES / 1024} KiB.`)]).toEqual([400, true])
  })

  it.each(['/developers/sign-in/pick', '/connected/pick', '/connected/withdraw'])(
    'that anybody can send to %s is refused with its own bound',
    async (path) => {
      // A form of the sign-in redirects a person who has signed in.
      const browser = path.endsWith('/pick') ? team.newBrowser() : team.asOwner
      const { status, text } = await browser.post(issuer + path, 'a'.repeat(8 * 1024 + 1))
      expect([status, text.includes('The form is larger than 8 KiB.')]).toEqual([400, true])
    },
  )

  it('of nobody is not read', async () => {
    const { status, location } = await team
      .newBrowser()
      .post(`${team.app}/settings/details`, 'a'.repeat(MAX_FORM_BYTES + 1))
    expect([status, location?.href]).toEqual([303, `${issuer}/developers/sign-in`])
  })
})

it('a form with more fields than any page has is refused', async () => {
  const before = await team.stored()
  expect((await team.asOwner.post(`${team.app}/settings/details`, '&'.repeat(2_000))).status).toBe(400)
  expect(await team.stored()).toEqual(before)
})

import { beforeAll, describe, expect, it } from 'vitest'
import { quoteForShell } from '../../server/portal/pages/quote-for-shell.ts'
import { id } from '../support/tenant.ts'
import { portalWorld } from './portal-world.ts'

const team = portalWorld()
const app = id('app')
const page = async (browser = team.asOwner) => (await browser.get(`${team.own}/apps/${app}`)).text
const readSteps = (text: string) =>
  [...text.matchAll(/<li( class="done-step")?>([^<]+)/g)].map(([, done, step]) => `${done ? '✓ ' : ''}${step}`)

beforeAll(async () => {
  const { db, ids } = team.world
  await db.app.create({ data: { id: app, name: 'New', teamId: ids.team, providerId: ids.provider } })
})

describe('the overview of a new app', () => {
  it('leads with the first client, then with a call by its id and this service’s addresses', async () => {
    const steps = ['Create a sandbox client', 'Make the first call', 'Set a webhook', 'Request production']
    const before = await page()
    expect(readSteps(before)).toEqual(steps)
    expect(before).not.toContain('code_verifier')
    const { id: client } = await team.sandbox({ app })
    const text = await page()
    expect(readSteps(text)).toEqual([`✓ ${steps[0]}`, ...steps.slice(1)])
    expect(text).toContain('curl -s http://auth.test/v1/oauth/token -d grant_type=authorization_code')
    expect(text).toContain(`-d client_id=${client} `)
    expect(text).toMatch(/curl -H &quot;Authorization: Bearer \$TOKEN&quot; http:\/\/apps\.test\/v1\/me\/profile/)
    const [, verifier] = /code_verifier=([\w-]{43}) /.exec(text)!
    expect(await page()).not.toContain(verifier)
  })

  it('quotes the redirect URI, which a colleague may have chosen, in the command', async () => {
    const redirectUri = "http://localhost:4321/';$(id);'"
    const other = await team
      .as(team.owner)
      .apps.create({ team: team.world.ids.team, name: 'Quotes', provider: team.world.ids.provider })
    await team.sandbox({ app: other.id, redirectUris: [redirectUri] })
    const { text } = await team.asOwner.get(`${team.own}/apps/${other.id}`)
    const command = text.replaceAll('&#39;', "'").replaceAll('&amp;', '&')
    expect(command).toContain(`--data-urlencode ${quoteForShell(`redirect_uri=${redirectUri}`)} -d code_verifier`)
  })

  it('ticks the call, the webhook and production, and is then without steps', async () => {
    const { db, ids } = team.world
    const { id: client } = await team.sandbox({ app, name: 'Other' })
    const at = new Date(team.world.core.now())
    at.setUTCMinutes(0, 0, 0)
    await db.clientUsage.create({
      data: { teamId: ids.team, clientId: client, span: 'hour', at, ok: 1, refused: 0, limited: 0 },
    })
    expect(readSteps(await page())[1]).toBe('✓ Make the first call')
    await db.app.update({ where: { id: app }, data: { webhookUrl: 'https://hooks.example/in' } })
    expect(readSteps(await page())).toEqual([
      '✓ Create a sandbox client',
      '✓ Make the first call',
      '✓ Set a webhook',
      'Request production',
    ])
    expect(await page(team.asColleague)).toContain('Only team owners can request production.')
    await team.production({ app })
    expect(await page()).not.toContain('Next steps')
  })
})

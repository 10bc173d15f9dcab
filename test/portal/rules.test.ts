import { beforeEach, describe, expect, it } from 'vitest'
import { id } from '../support/tenant.ts'
import { portalWorld } from './portal-world.ts'

const team = portalWorld()
let page: string
beforeEach(async () => {
  page = `${team.app}/rules`
  await team.world.db.collectionRule.deleteMany({ where: { appId: team.world.ids.app } })
})

const stored = () =>
  team.world.db.collectionRule.findMany({
    where: { appId: team.world.ids.app },
    select: { collection: true, rule: true },
  })
const post = (fields: Record<string, string>, language = 'en') =>
  team.asColleague.post(`${page}/set`, fields, { 'accept-language': language })

describe('the rules of an app', () => {
  it('are linked from its data, and set and removed by forms', async () => {
    expect((await team.asColleague.get(`${team.app}/data`)).text).toContain(`href="${new URL(page).pathname}"`)
    expect((await team.asColleague.get(page)).text).toContain('There is no rule')
    const set = await team.asColleague.follow(await post({ collection: ' scores ', rule: 'author' }))
    expect([set.url.href, await stored()]).toEqual([`${page}?done=saved`, [{ collection: 'scores', rule: 'author' }]])
    expect(set.text).toMatch(/<code>scores<\/code><\/td><td[^>]*>only their author</)
    expect(set.text).toMatch(/name="collection" value="scores"><input type="hidden" name="rule" value="anyone">/)
    const removed = await team.asColleague.follow(await post({ collection: 'scores', rule: 'anyone' }))
    expect([removed.url.href, await stored()]).toEqual([`${page}?done=removed`, []])
  })

  it('are in the audit log in the words of the reader', async () => {
    await post({ collection: 'scores', rule: 'app' })
    const { text } = await team.asOwner.get(`${team.own}/audit`, { 'accept-language': 'de' })
    expect(text).toContain('Regel einer Sammlung festgelegt')
    expect(text).toMatch(/<dt>Sammlung<\/dt><dd><ins>.*?<bdi>scores</)
    expect(text).toMatch(/<dt>Regel<\/dt><dd><del>.*?jedes Mitglied<\/del><ins>.*?nur die App selbst</)
  })

  it('set by the app itself are in the audit log with the name of its client, or once it is removed, its id', async () => {
    const { db, ids, now } = team.world
    const [client, removed] = [ids.client, id('removed')]
    for (const clientId of [client, removed]) {
      const change = { action: 'rule.set', target: ids.app, after: { collection: 'c', rule: 'app' } }
      await db.auditEntry.create({ data: { teamId: ids.team, clientId, at: new Date(now() * 1000), ...change } })
    }
    const { text } = await team.asOwner.get(`${team.own}/audit`)
    expect(text).toContain(' · Client <bdi>Client</bdi></p>')
    expect(text).toContain(` · Client <code>${removed}</code></p>`)
    const { items } = await team.as(team.owner).audit.list({ team: ids.team })
    expect(items.slice(0, 2)).toMatchObject([
      { by: null, client: { id: removed, name: null } },
      { by: null, client: { id: client, name: 'Client' } },
    ])
  })

  it.each([
    ['en', 'a/b', 422, 'Names use 1 to 64 letters, digits, &#39;_&#39; or &#39;-&#39;.'],
    ['de', '<b>', 422, 'Namen bestehen aus 1 bis 64 Buchstaben, Ziffern, _ oder -.'],
    ['de', '', 422, 'Namen bestehen aus 1 bis 64 Buchstaben, Ziffern, _ oder -.'],
    ['de', 'c100', 409, 'Eine App kann Regeln für höchstens 100 Sammlungen haben.'],
  ])('show a refusal at its field, in %s: %j', async (language, collection, status, sentence) => {
    const data = Array.from({ length: 100 }, (_, n) => ({
      appId: team.world.ids.app,
      collection: `c${n}`,
      rule: 'author',
    }))
    await team.world.db.collectionRule.createMany({ data })
    const before = await stored()
    const refused = await post({ collection, rule: 'app' }, language)
    expect(refused.status).toBe(status)
    expect(refused.text).toContain(`id="set-collection-problem"><span>${sentence}`)
    expect(refused.text).toMatch(/<input id="set-collection"[^>]* aria-invalid="true" autofocus>/)
    expect(refused.text).not.toContain('<b>')
    expect(refused.text).toMatch(/<option value="app" selected>/)
    expect(await stored()).toEqual(before)
  })

  it('refuse a form without a rule', async () => {
    expect((await post({ collection: 'c' })).status).toBe(400)
    expect(await stored()).toEqual([])
  })
})

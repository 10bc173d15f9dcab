import { beforeEach, describe, expect, it } from 'vitest'
import type { Browser } from '../oauth/browser.ts'
import { id } from '../support/tenant.ts'
import { portal, portalWorld, storeEntry } from './portal-world.ts'

const team = portalWorld()

/** Presses the button of the question, as the page has it. */
async function confirm(browser: Browser, question: string) {
  const { text } = await browser.open(question)
  const form = /<form method="post" action="([^"]+\/confirm)"><input type="hidden" name="(\w+)" value="([^"]*)">/
  const [, action, name, value] = form.exec(text)!
  const answer = await browser.post(new URL(action!, portal), { [name!]: value!.replaceAll('&amp;', '&') })
  return browser.follow(answer)
}

describe('removing a webhook', () => {
  const url = 'https://hooks.example/in?a=1&b=%3C'
  const stored = () => team.world.db.app.findUniqueOrThrow({ where: { id: team.world.ids.app } })
  beforeEach(async () => {
    const data = { webhookUrl: url, webhookSecret: 'encrypted' }
    await team.world.db.app.update({ where: { id: team.world.ids.app }, data })
  })

  it('asks first, and the question changes nothing', async () => {
    const before = await stored()
    const { status, text } = await team.asOwner.get(`${team.app}/webhook/remove`)
    expect(status).toBe(200)
    expect(text).toContain('<h2 class="section">Remove the webhook?</h2>')
    expect(text).toContain('<code>https://hooks.example/in?a=1&amp;b=%3C</code>')
    expect(await stored()).toEqual(before)
  })

  it('does nothing without the answer, or for a webhook that was changed meanwhile', async () => {
    const before = await stored()
    expect((await team.asOwner.post(`${team.app}/webhook/remove`, { url })).status).toBe(405)
    for (const fields of [{}, { url: '' }, { url: 'https://hooks.example/former' }]) {
      const { status, text } = await team.asOwner.post(`${team.app}/webhook/remove/confirm`, fields)
      expect([fields, status]).toEqual([fields, 409])
      expect(text).toContain('This has been changed in the meantime.')
      expect(text).toContain('<h2 class="section">Remove the webhook?</h2>')
    }
    expect(await stored()).toEqual(before)
  })

  it('is done by the question’s form', async () => {
    const { text } = await confirm(team.asOwner, `${team.app}/webhook/remove`)
    expect(text).toContain('This app has no webhook.')
    expect(await stored()).toMatchObject({ webhookUrl: null, webhookSecret: null })
    // Opened again, there is nothing to ask.
    expect((await team.asOwner.open(`${team.app}/webhook/remove/confirm`)).text).toContain('This app has no webhook.')
  })
})

describe('removing a person', () => {
  let person: string
  let question: string
  const stored = () =>
    team.world.db.teamMember.findUnique({ where: { of: { teamId: team.world.ids.team, personId: person } } })
  beforeEach(async () => {
    person = id('former')
    const data = { id: person, firstName: 'Mia', lastName: '<Moser>', email: `${person}@example.org` }
    await team.world.db.person.create({ data })
    await team.world.db.teamMember.create({
      data: { teamId: team.world.ids.team, personId: person, role: 'developer' },
    })
    question = `${team.own}/people/${person}/remove`
  })

  it('asks first, and the question changes nothing', async () => {
    const before = await stored()
    const { status, text } = await team.asOwner.get(question)
    expect(status).toBe(200)
    expect(text).toContain('<h2 class="section">Remove <bdi>Mia &lt;Moser&gt;</bdi>?</h2>')
    expect(await stored()).toEqual(before)
  })

  it('does nothing without the answer, or for a role that was changed meanwhile', async () => {
    const before = await stored()
    expect((await team.asOwner.post(question, { role: 'developer' })).status).toBe(405)
    for (const fields of [{}, { role: '' }, { role: 'owner' }]) {
      const { status, text } = await team.asOwner.post(`${question}/confirm`, fields)
      expect([fields, status]).toEqual([fields, 409])
      expect(text).toContain('This has been changed in the meantime.')
    }
    expect(await stored()).toEqual(before)
  })

  it('is done by the question’s form', async () => {
    const { text, url } = await confirm(team.asOwner, question)
    expect(text).toContain('Removed.')
    expect(url.href).toBe(`${team.own}/people?done=removed`)
    expect(await stored()).toBeNull()
    expect((await team.asOwner.get(question)).status).toBe(404)
  })

  it('is leaving the team, for oneself', async () => {
    const self = await team.signIn(person)
    expect((await self.get(question)).text).toMatch(/<h2 class="section">Leave .*\?<\/h2>/)
    expect(await stored()).not.toBeNull()
    expect((await confirm(self, question)).text).toContain('You have left the team.')
    expect(await stored()).toBeNull()
  })

  // test/portal/routes.test.ts has the form, and other teams.
  it('is asked of owners and oneself only', async () => {
    expect((await team.asColleague.get(question)).status).toBe(403)
  })
})

describe('resetting the test club', () => {
  let entry: { appId: string; clubId: string; key: string }
  let question: string
  const stored = () => team.world.db.storageEntry.findMany({ where: entry })
  beforeEach(async () => {
    await team.sandbox()
    const clubId = await storeEntry(team)
    entry = { appId: team.world.ids.app, clubId, key: 'k' }
    question = `${team.own}/test-club/reset`
  })

  it('asks first, shows what will be deleted, and the question changes nothing', async () => {
    const before = await stored()
    expect(before).toHaveLength(1)
    const held = await team.as(team.colleague).testClub.impact({ team: team.world.ids.team })
    const { status, text } = await team.asColleague.get(question)
    expect(status).toBe(200)
    expect(text).toContain('<h2 class="section">Reset the test club?</h2>')
    expect(text).toContain(`<dt>Stored entries</dt><dd>${held.entries} (${held.bytes} bytes)</dd>`)
    expect(text).toContain('<dt>Quiz results</dt><dd>0</dd>')
    const german = await team.asColleague.get(question, { 'accept-language': 'de' })
    expect(german.text).toContain('<dt>Gespeicherte Einträge</dt>')
    expect((await team.asColleague.post(question, {})).status).toBe(405)
    expect(await stored()).toEqual(before)
  })

  it('is done by the question’s form', async () => {
    const { text } = await team.asColleague.get(question)
    const path = new URL(question).pathname
    expect(text).toContain(`<form method="post" action="${path}/confirm">`)
    const done = await team.asColleague.follow(await team.asColleague.post(`${question}/confirm`, {}))
    expect(done.text).toContain('The test club is ready.')
    expect(await stored()).toEqual([])
  })

  it('is not asked where there is no test club, which the form creates', async () => {
    const { db } = team.world
    await db.organisation.deleteMany({ where: { testTeamId: team.strangers } })
    const own = `${portal}/teams/${team.strangers}/test-club`
    const { text } = await team.asStranger.get(`${own}/reset`)
    expect(text).toContain('Create the test club')
    expect(text).not.toContain('Reset the test club?')
    const created = await team.asStranger.follow(await team.asStranger.post(`${own}/reset/confirm`, {}))
    expect(created.text).toContain('The test club is ready.')
    expect(await db.organisation.count({ where: { testTeamId: team.strangers } })).toBe(3)
  })
})

describe('deleting an app', () => {
  const stored = () => team.world.db.app.findUniqueOrThrow({ where: { id: team.world.ids.app } })

  it('shows what ends, needs the name, and can be undone', async () => {
    const before = await stored()
    const question = await team.asOwner.get(`${team.app}/delete`)
    expect(question.text).toContain('deleted permanently')
    const wrong = await team.asOwner.post(`${team.app}/delete/confirm`, { confirm: 'app' })
    expect(wrong.status).toBe(409)
    expect(wrong.text).toMatch(/<input id="confirm-confirm"[^>]* value="app"[^>]* aria-invalid="true" autofocus>/)
    expect(await stored()).toEqual(before)
    const deleted = await team.asOwner.post(`${team.app}/delete/confirm`, { confirm: before.name })
    expect((await team.asOwner.follow(deleted)).text).toContain('is removed permanently on')
    expect((await team.asOwner.get(team.own)).text).toContain('deleted, permanently on')
    expect((await team.asColleague.get(team.app)).text).not.toContain(`${new URL(team.app).pathname}/restore`)
    const restored = await team.asOwner.follow(await team.asOwner.post(`${team.app}/restore`, {}))
    expect(restored.text).toContain('Restored.')
    expect(await stored()).toMatchObject({ state: 'active', endsAt: null })
  })

  it('is for owners: a developer gets no page for it, and changes nothing', async () => {
    const before = await stored()
    expect((await team.asColleague.get(`${team.app}/delete`)).status).toBe(403)
    expect((await team.asColleague.post(`${team.app}/delete/confirm`, { confirm: before.name })).status).toBe(403)
    expect(await stored()).toEqual(before)
  })
})

describe('deleting a team', () => {
  it('needs its name, and can be undone', async () => {
    const { db, ids } = team.world
    const stored = () => db.team.findUniqueOrThrow({ where: { id: ids.team } })
    const before = await stored()
    expect((await team.asOwner.post(`${team.own}/delete/confirm`, { confirm: '' })).status).toBe(409)
    expect(await stored()).toEqual(before)
    const deleted = await team.asOwner.post(`${team.own}/delete/confirm`, { confirm: before.name })
    expect((await team.asOwner.follow(deleted)).text).toContain('is removed permanently on')
    const restored = await team.asOwner.follow(await team.asOwner.post(`${team.own}/restore`, {}))
    expect(restored.text).toContain('Restored.')
    expect(await stored()).toEqual(before)
  })
})

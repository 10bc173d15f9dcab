import { beforeEach, describe, expect, it } from 'vitest'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { eventsRead, profileRead, redirect } from '../developer/team-world.ts'
import { sentForm } from '../support/sent-form.ts'
import { portalWorld } from './portal-world.ts'

const team = portalWorld()
const elsewhere = 'https://new.example/'
const third = memberScopes.find((scope) => scope !== profileRead && scope !== eventsRead)!
const purpose = { [eventsRead]: 'It shows the calendar.' }
let client: string
beforeEach(async () => {
  const { db, ids } = team.world
  await db.client.deleteMany({ where: { appId: ids.app } })
  client = await team.production()
  const { version } = await stored()
  const more = { redirectUris: [redirect, elsewhere], devices: true, scopes: [profileRead, eventsRead], purpose }
  await team.as(team.owner).clients.update({ client, version, ...more })
  await db.app.update({
    where: { id: ids.app },
    data: { name: 'Trainer', description: null, homepage: null, wanted: {} },
  })
  await team.as(team.owner).apps.update({ app: ids.app, name: 'Coach' })
})

const stored = () => team.world.db.client.findUniqueOrThrow({ where: { id: client } })
const storedApp = () => team.world.db.app.findUniqueOrThrow({ where: { id: team.world.ids.app } })

/** Saves a form as a browser does, after `change`. */
async function save(page: string, action: string, change: (form: URLSearchParams) => void = () => {}) {
  const form = sentForm((await team.asColleague.get(page)).text, action)
  change(form)
  return team.asColleague.follow(await team.asColleague.post(`${page}/${action}`, `${form}`))
}
const signIn = (change?: (form: URLSearchParams) => void) =>
  save(`${team.clientAt(client)}/sign-in`, 'settings', change)
const scopes = (change?: (form: URLSearchParams) => void) => save(`${team.clientAt(client)}/scopes`, 'set', change)
const details = (change?: (form: URLSearchParams) => void) => save(`${team.app}/settings`, 'details', change)

describe('changes that await approval', () => {
  it.each([
    ['sign-in', signIn],
    ['scopes', scopes],
    ['an app', details],
  ])('stay with the form of %s that is saved as it is shown', async (_, send) => {
    const before = [await stored(), await storedApp()]
    expect(before.map(({ wanted }) => wanted)).toEqual([
      expect.objectContaining({
        redirectUris: [redirect, elsewhere],
        devices: true,
        scopes: [profileRead, eventsRead],
      }),
      { name: 'Coach' },
    ])
    expect((await send()).url.search).toBe('?done=review')
    expect([await stored(), await storedApp()]).toEqual(before)
  })

  it('stay when another field of their form is changed', async () => {
    const { wanted } = await stored()
    await signIn((form) => form.set('name', 'Renamed'))
    expect(await stored()).toMatchObject({ name: 'Renamed', wanted })
    await details((form) => form.set('description', 'Plans.'))
    expect((await storedApp()).wanted).toEqual({ name: 'Coach', description: 'Plans.' })
  })

  it('of scopes are joined by another scope', async () => {
    await scopes((form) => {
      form.append('scopes', third)
      form.set(`purpose.${third}`, 'It trains.')
    })
    expect(await stored()).toMatchObject({
      scopes: [profileRead],
      wanted: { scopes: [profileRead, eventsRead, third], purpose: { ...purpose, [third]: 'It trains.' } },
    })
  })

  it('are withdrawn by a form without them, or by the button beside it', async () => {
    await signIn((form) => {
      form.set('redirectUris', redirect)
      form.delete('devices')
    })
    expect((await stored()).wanted).toEqual({ scopes: [profileRead, eventsRead], purpose: expect.anything() })
    const { text } = await team.asColleague.get(`${team.clientAt(client)}/scopes`)
    const withdrawal = `${sentForm(text, 'withdraw')}`
    const page = await team.asColleague.follow(
      await team.asColleague.post(`${team.clientAt(client)}/withdraw`, withdrawal),
    )
    expect(page.text).toContain('The changes were withdrawn.')
    expect((await stored()).wanted).toBeNull()
  })

  it.each([
    ['en', 'The form shows what is pending.'],
    ['de', 'Das Formular zeigt, was noch freizugeben ist.'],
  ])('are named beside the forms that show them, in %s', async (language, sentence) => {
    for (const page of [
      `${team.clientAt(client)}/sign-in`,
      `${team.clientAt(client)}/scopes`,
      `${team.app}/settings`,
    ]) {
      expect((await team.asColleague.get(page, { 'accept-language': language })).text).toContain(sentence)
    }
  })

  it('of a scope that the team’s level has lost stay in its form', async () => {
    const { db, ids } = team.world
    const wanted = { scopes: [profileRead, 'lms.me.quizzes:read'], purpose: { 'lms.me.quizzes:read': 'It asks.' } }
    await db.client.update({ where: { id: client }, data: { wanted } })
    await db.team.update({ where: { id: ids.team }, data: { level: 'hobby' } })
    const form = sentForm((await team.asColleague.get(`${team.clientAt(client)}/scopes`)).text, 'set')
    await db.team.update({ where: { id: ids.team }, data: { level: 'developer' } })
    expect(form.getAll('scopes')).toContain('lms.me.quizzes:read')
    expect(form.get('purpose.lms.me.quizzes:read')).toBe('It asks.')
  })
})

import { beforeEach, describe, expect, it } from 'vitest'
import { addEntry } from '../directory/person-rows.ts'
import { portalWorld, storeEntry } from './portal-world.ts'

const team = portalWorld()
let club: string
let entry: string
beforeEach(async () => {
  await team.sandbox()
  await team.world.db.storageEntry.deleteMany({ where: { appId: team.world.ids.app } })
  club = await storeEntry(team)
  entry = `${team.app}/data/${club}/shared/c/k`
})

const stored = async () =>
  (await team.world.db.storageEntry.findFirst({ where: { appId: team.world.ids.app, clubId: club, key: 'k' } }))?.value
const findEtag = (text: string) => /name="etag" value="([^"]+)"/.exec(text)![1]!.replaceAll('&quot;', '"')
const hrefs = (text: string) => [...text.matchAll(/<td[^>]*><a href="([^"]+)"/g)].map(([, href]) => href!)

describe('the data pages of an app', () => {
  it('lead from the stores to a value', async () => {
    const { origin } = new URL(team.app)
    let page = await team.asColleague.get(`${team.app}/data`)
    for (const name of ['collections', 'entries', 'entry']) {
      const [href] = hrefs(page.text)
      page = await team.asColleague.get(origin + href)
      expect([name, page.status]).toEqual([name, 200])
    }
    expect(page.url.href).toBe(entry)
    expect(page.text).toContain('{&quot;n&quot;: 1.0}</textarea>')
  })

  it('change a value, with the line breaks of the form as line feeds', async () => {
    const etag = findEtag((await team.asColleague.get(entry)).text)
    const page = await team.asColleague.follow(
      await team.asColleague.post(`${entry}/save`, { etag, value: '[1,\r\n2]' }),
    )
    expect([page.url.href, await stored()]).toEqual([`${entry}?done=saved`, '[1,\n2]'])
  })

  it.each([
    ['en', 'The value must be one JSON value'],
    ['de', 'Der Wert muss JSON sein'],
  ])('show a value that is no JSON again, with the problem at its field, in %s', async (language, sentence) => {
    const browser = await team.signIn(team.owner)
    browser.language = language
    const etag = findEtag((await browser.get(entry)).text)
    const { status, text } = await browser.post(`${entry}/save`, { etag, value: '{"a": <b>}' })
    expect(status).toBe(400)
    expect(text).toContain('{&quot;a&quot;: &lt;b&gt;}</textarea>')
    expect(text).toMatch(new RegExp(`id="save-value-problem"><span>${sentence}`))
    expect(text).toMatch(/<textarea[^>]* aria-invalid="true" autofocus/)
    expect(await stored()).toBe('{"n": 1.0}')
  })

  it('refuse a change and a removal of what has changed meanwhile', async () => {
    const etag = findEtag((await team.asOwner.get(entry)).text)
    await storeEntry(team, '2')
    for (const form of ['save', 'delete']) {
      const { status, text } = await team.asOwner.post(`${entry}/${form}`, { etag, value: '3' })
      expect([status, text.includes('This has been changed in the meantime.')]).toEqual([409, true])
    }
    expect(await stored()).toBe('2')
  })

  it('remove an entry, and show the collection', async () => {
    const etag = findEtag((await team.asOwner.get(entry)).text)
    const page = await team.asOwner.follow(await team.asOwner.post(`${entry}/delete`, { etag }))
    expect([page.url.href, await stored()]).toEqual([`${team.app}/data/${club}/shared/c?done=removed`, undefined])
    expect((await team.asOwner.get(entry)).status).toBe(404)
  })

  it('show larger values without a form: any text of the bound fits into one', async () => {
    const text = async (value: string) => {
      await storeEntry(team, value)
      return (await team.asOwner.get(entry)).text
    }
    const longest = `"${'é'.repeat(1_249)}"`
    const page = await text(longest)
    const saved = await team.asOwner.post(`${entry}/save`, { etag: findEtag(page), value: longest })
    expect([saved.status, await stored()]).toEqual([303, longest])
    expect(await text(`${longest} `)).not.toContain('<textarea')
    expect(await text(`"${'x'.repeat(64 * 1024)}"`)).toContain('too large to show here')
  })

  it('are read-only in a club of the platform', async () => {
    const { db, ids } = team.world
    await db.membership.createMany({ data: { organisationId: ids.club, personId: team.owner }, skipDuplicates: true })
    await addEntry(db, { app: ids.app, club: ids.club, owner: team.owner, key: 'own', value: '"mine"' })
    const own = `${team.app}/data/${ids.club}/of-${team.owner}/c/own`
    const { status, text } = await team.asOwner.get(own)
    expect([status, text.includes('&quot;mine&quot;</code></pre>')]).toEqual([200, true])
    expect(text).not.toMatch(/\/(save|delete)"/)
    const { version } = await db.storageEntry.findFirstOrThrow({ where: { clubId: ids.club, owner: team.owner } })
    for (const form of ['save', 'delete']) {
      expect((await team.asOwner.post(`${own}/${form}`, { etag: `"${version}"`, value: '1' })).status).toBe(404)
    }
    expect(await db.storageEntry.count({ where: { clubId: ids.club, owner: team.owner, value: '"mine"' } })).toBe(1)
  })
})

it.each(['data/none', 'data/x/y/c', 'data/x/shared/c/k', 'data/x/of-/c', 'data/x/shared/a%2Fb', 'data/x/of-%00/c'])(
  'the page %s does not exist',
  async (address) => {
    expect((await team.asOwner.get(`${team.app}/${address}`)).status).toBe(404)
  },
)

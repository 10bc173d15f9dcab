import { beforeEach, describe, expect, it } from 'vitest'
import { sentForm } from '../support/sent-form.ts'
import { portalWorld } from './portal-world.ts'

const team = portalWorld()
const url = 'https://hooks.example/in?a=<b>'
let page: string
beforeEach(async () => {
  page = `${team.app}/addresses`
  await team.world.db.subscription.deleteMany({ where: { appId: team.world.ids.app } })
})

const { get, post } = {
  get: (path = '', language = 'en') => team.asColleague.get(page + path, { 'accept-language': language }),
  post: (path: string, fields: Record<string, string | string[]> = {}, language = 'en') =>
    team.asColleague.post(page + path, fields, { 'accept-language': language }),
}
const stored = () => team.world.db.subscription.findMany({ where: { appId: team.world.ids.app } })
const add = (more: Record<string, string | string[]> = {}) =>
  post('/add', { environment: 'production', url, secret: '', types: ['', 'member.left'], ...more })
async function added() {
  expect((await add()).status).toBe(200)
  return (await stored())[0]!.id
}

describe('the addresses of an app', () => {
  it('are linked from the webhook, and added with the secret on a page of its own', async () => {
    const { text } = await team.asColleague.get(`${team.app}/webhook`)
    expect(text).toContain(`href="${new URL(page).pathname}"`)
    const { status, text: created } = await add({ all: 'yes' })
    expect(status).toBe(200)
    const [, secret] = /data-copy="Secret">(whsec_[^<]+)</.exec(created)!
    const [row] = await stored()
    expect(row).toMatchObject({ url, types: [], address: true, test: false })
    expect(team.world.core.cipher.decrypt(row!.secret!, `Subscription.secret:${row!.id}`)).toBe(secret)
    const shown = (await get()).text
    expect(shown).toContain('<code>https://hooks.example/in?a=&lt;b&gt;</code>')
    expect([shown.includes(secret!), (await get(`/${row!.id}`)).text.includes(secret!)]).toEqual([false, false])
  })

  it('show what each type would have sent in the last 7 days', async () => {
    const { db, ids } = team.world
    const event = { appId: ids.app, type: 'member.left', body: '{}', publishedAt: new Date(team.world.core.now()) }
    const ids2 = ['addresses-1', 'addresses-2', 'addresses-3']
    await db.publishedEvent.createMany({ data: ids2.map((id, n) => ({ ...event, id, isTest: n === 0 })) })
    const { text } = await get('', 'de')
    expect(text).toMatch(/value="member\.left"[^>]*>\s*<span><code>member\.left<\/code> 2 · Sandbox 1</)
  })

  it('are changed, paused, resumed and tried by forms', async () => {
    const id = await added()
    const shown = (await get(`/${id}`)).text
    expect(shown).toMatch(/value="member\.left" checked/)
    const etag = sentForm(shown, 'set').get('etag')!
    const changed = {
      etag,
      url: ' https://new.example/ ',
      secret: ' next ',
      types: ['', 'member.left', 'consent.withdrawn'],
    }
    expect((await post(`/${id}/set`, changed)).headers.location).toMatch(`/${id}?done=saved`)
    const [row] = await stored()
    expect(row).toMatchObject({ url: 'https://new.example/', types: ['member.left', 'consent.withdrawn'] })
    expect(row!.formerSecret).not.toBeNull()
    await post(`/${id}/set-state`, { state: 'paused' })
    expect(await stored()).toMatchObject([{ paused: true, secret: row!.secret }])
    const paused = await get(`/${id}`, 'de')
    expect(paused.text).toContain('>pausiert<')
    expect(paused.text).not.toContain(`/${id}/test"`)
    const refused = await post(`/${id}/test`, {}, 'de')
    expect([refused.status, refused.text.includes('Diese Adresse ist pausiert oder beendet.')]).toEqual([409, true])
    await post(`/${id}/set-state`, { state: 'active' })
    expect(await stored()).toMatchObject([{ paused: false, endedAt: null }])
    const { location } = (await post(`/${id}/test`)).headers
    expect(location).toMatch(/\/deliveries\/[^/]+\?done=sent$/)
    expect(await team.world.db.delivery.count({ where: { subscriptionId: id } })).toBe(1)
  })

  it.each([
    ['en', 'A url with another host or port needs a secret.'],
    ['de', 'Eine Adresse mit anderem Host oder Port braucht ein Secret.'],
  ])('ask at the field for the secret of another host, in %s', async (language, sentence) => {
    const id = await added()
    const before = await stored()
    const etag = sentForm((await get(`/${id}`)).text, 'set').get('etag')!
    const moved = { etag, url: 'https://other.example/', secret: '', types: ['', 'member.left'] }
    const refused = await post(`/${id}/set`, moved, language)
    expect([refused.status, await stored()]).toEqual([400, before])
    expect(refused.text).toContain(`id="set-secret-problem"><span>${sentence}`)
  })

  it('are removed after a question that names the address', async () => {
    const id = await added()
    expect((await get(`/${id}/remove`)).text).toContain('<code>https://hooks.example/in?a=&lt;b&gt;</code>')
    expect((await post(`/${id}/remove/confirm`)).headers.location).toMatch(/\/addresses\?done=removed$/)
    expect(await stored()).toEqual([])
    expect((await get(`/${id}`)).status).toBe(404)
  })

  it('are in the audit log in the words of the reader', async () => {
    await added()
    const { text } = await team.asOwner.get(`${team.own}/audit`, { 'accept-language': 'de' })
    expect(text).toContain('Adresse hinzugefügt')
    expect(text).toMatch(/<dt>Ereignistypen<\/dt>/)
  })

  it.each([
    ['en', { types: [''] }, 400, 'add-types-problem', 'types must be null'],
    ['de', { types: [''] }, 400, 'add-types-problem', 'Bitte alle Ereignistypen oder 1 bis 50 davon wählen.'],
    ['de', { url: 'http://hooks.example' }, 400, 'add-url-problem', 'Die Adresse ist eine https-Adresse'],
    ['de', { secret: 'a b' }, 400, 'add-secret-problem', 'Das Secret besteht aus'],
    ['de', { environment: 'sandbox' }, 409, 'add-environment-problem', 'Eine App kann höchstens 10 Adressen haben'],
  ])('show a refusal at its field, in %s: %j', async (language, more, status, field, sentence) => {
    const own = { appId: team.world.ids.app, subscriber: 'address', address: true, test: true }
    const data = Array.from({ length: 10 }, (_, n) => ({ id: `${team.world.ids.app}-${n}`, ...own }))
    await team.world.db.subscription.createMany({ data })
    const fields = { environment: 'production', url, secret: '', types: ['', 'member.left'], ...more }
    const refused = await post('/add', fields, language)
    expect([refused.status, await stored()]).toMatchObject([status, { length: 10 }])
    expect(refused.text).toContain(`id="${field}"><span>${sentence}`)
    expect(refused.text).not.toContain('<b>')
  })
})

import { beforeEach, describe, expect, it } from 'vitest'
import { refuse } from '../../routers/developer/reviews/decide.ts'
import { mintDelivery, mintReceiver } from '../conformance/delivery-tenant.ts'
import { asPlatform } from '../support/platform.ts'
import { send } from '../support/request.ts'
import { sentForm } from '../support/sent-form.ts'
import { listForms, portal, portalWorld } from './portal-world.ts'

const team = portalWorld()
let client: string
beforeEach(async () => {
  await team.world.db.client.deleteMany({ where: { teamId: team.world.ids.team, appId: team.world.ids.app } })
  client = (await team.sandbox()).id
})

const forms = (delivery = 'none') => {
  const { world, colleague } = team
  return listForms(world.ids.team, world.ids.app, client, delivery, colleague, world.ids.provider)
}
const readEtag = async (address: string) => {
  const page = await team.asOwner.get(address.replace(/\/[^/]*$/, ''))
  return sentForm(page.text, address.split('/').at(-1)!).get('etag')!
}
/** Posts a form of the table, with other fields where given, and follows the answer. */
const post = async (end: string, more: Record<string, string | string[]> = {}, delivery?: string) => {
  const [address, fields] = Object.entries(forms(delivery)).find(([address]) => address.endsWith(end))!
  const seen = 'etag' in fields && { etag: await readEtag(portal + address) }
  const answer = await team.asOwner.post(portal + address, { ...fields, ...seen, ...more })
  return { answer, page: await team.asOwner.follow(answer) }
}
const stored = () => team.world.db.client.findUniqueOrThrow({ where: { id: client } })

/** What a page shows as removed and added, by field. */
const listDiff = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/<dt>([^<]+)<\/dt><dd>((?:<del>|<ins>).*?)<\/dd>/gs)].map(([, field, parts]) => {
      const read = (tag: string) =>
        [...parts!.matchAll(new RegExp(`<${tag}>.*?<bdi>(.*?)</bdi></${tag}>`, 'gs'))].map(([, value]) => value)
      return [field, { del: read('del'), ins: read('ins') }]
    }),
  )

describe('the forms', () => {
  it('make an app and change it', async () => {
    const { answer, page } = await post('/apps')
    expect(answer.status).toBe(303)
    expect(page.text).toContain('Created.')
    const made = await team.world.db.app.findFirstOrThrow({ where: { teamId: team.world.ids.team, name: 'Scores' } })
    const fields = {
      version: String(made.version),
      name: 'Results',
      description: 'A & B',
      homepage: 'https://r.example',
    }
    const changed = await team.asOwner.post(`${team.own}/apps/${made.id}/settings/details`, fields)
    expect(changed.status).toBe(303)
    const { name, description, homepage } = await team.world.db.app.findUniqueOrThrow({ where: { id: made.id } })
    expect({ name, description, homepage }).toEqual({
      name: 'Results',
      description: 'A & B',
      homepage: 'https://r.example',
    })
  })

  it('make a sandbox client, a redirect a line', async () => {
    const { page } = await post('/clients/create')
    const made = decodeURIComponent(page.url.pathname.split('/').at(-1)!)
    expect(page.text).toContain(made)
    expect(await team.world.db.client.findUniqueOrThrow({ where: { id: made } })).toMatchObject({
      name: 'Second',
      environment: 'sandbox',
      redirectUris: ['https://app.example/callback', 'https://app.example/other'],
      scopes: ['svc.me.profile:read'],
    })
  })

  it('change a client’s name, redirects and scopes', async () => {
    expect((await post('/settings')).page.text).toContain('Saved.')
    const { name, redirectUris, version } = await stored()
    expect([name, redirectUris.length]).toEqual(['Renamed', 2])
    expect((await post('/scopes/set', { version: String(version) })).page.text).toContain('Saved.')
    expect((await stored()).scopes).toEqual(['svc.me.profile:read', 'svc.me.events:read'])
  })

  it('register a client for devices, which then needs no redirect URI', async () => {
    expect((await team.asOwner.get(`${team.clientAt(client)}/sign-in`)).text).toContain(
      'name="devices" value="yes" aria',
    )
    const { page } = await post('/settings', { devices: 'yes', redirectUris: '' })
    expect(page.text).toContain('name="devices" value="yes" checked')
    expect(await stored()).toMatchObject({ devices: true, redirectUris: [] })
    const { answer } = await post('/settings', { version: '1', redirectUris: '' })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('unless it signs in on devices')])
    expect(await stored()).toMatchObject({ devices: true, version: 1 })
  })

  it('set where a sign-out returns to, for a client with openid alone', async () => {
    expect((await team.asOwner.get(`${team.clientAt(client)}/sign-in`)).text).not.toContain(
      'name="postLogoutRedirectUris"',
    )
    await team.world.db.client.update({ where: { id: client }, data: { scopes: ['openid'] } })
    expect((await team.asOwner.get(`${team.clientAt(client)}/sign-in`)).text).toContain('name="postLogoutRedirectUris"')
    const { page } = await post('/settings', {
      postLogoutRedirectUris: 'https://app.example/bye\n\nhttps://app.example/',
    })
    expect(page.text).toContain('Saved.')
    expect((await stored()).postLogoutRedirectUris).toEqual(['https://app.example/bye', 'https://app.example/'])
    const { answer } = await post('/settings', { version: '1', postLogoutRedirectUris: 'https://evil.example/' })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('is at the host of none')])
    expect((await stored()).version).toBe(1)
  })

  it('choose how ID tokens are signed, for a client with openid alone', async () => {
    expect((await team.asOwner.get(`${team.clientAt(client)}/sign-in`)).text).not.toContain('name="idTokenAlgorithm"')
    await team.world.db.client.update({ where: { id: client }, data: { scopes: ['openid'] } })
    expect((await team.asOwner.get(`${team.clientAt(client)}/sign-in`)).text).toContain('name="idTokenAlgorithm"')
    const wrong = await post('/settings', { idTokenAlgorithm: 'none' })
    expect([wrong.answer.status, (await stored()).idTokenAlgorithm]).toEqual([400, 'ES256'])
    expect((await post('/settings', { idTokenAlgorithm: 'RS256' })).page.text).toContain('Saved.')
    expect((await stored()).idTokenAlgorithm).toBe('RS256')
    // As a client with RS256 lets every service of the database make a key.
    await team.world.db.client.update({ where: { id: client }, data: { idTokenAlgorithm: 'ES256' } })
  })

  it('show a refusal with what was typed, and change nothing', async () => {
    const before = await stored()
    const { answer } = await post('/settings', { name: '<b>Nicer</b>', redirectUris: 'http://app.example/' })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('role="alert"')
    expect(answer.text).toContain('<title>Problem: Sign-in</title>')
    expect(answer.text).toContain('value="&lt;b&gt;Nicer&lt;/b&gt;"')
    expect(answer.text).toContain('http://app.example/</textarea>')
    expect(await stored()).toEqual(before)
    expect((await team.asOwner.get(answer.url)).location?.href).toBe(`${team.clientAt(client)}/sign-in`)
  })

  it('refuse a form that was opened before another change', async () => {
    await post('/settings')
    const before = await stored()
    const { answer } = await post('/settings', { name: 'Later' })
    expect(answer.status).toBe(409)
    expect(await stored()).toEqual(before)
  })

  it('refuse a form without its version', async () => {
    const before = await stored()
    expect((await post('/settings', { version: '' })).answer.status).toBe(400)
    expect((await post('/scopes/set', { version: 'x' })).answer.status).toBe(400)
    expect(await stored()).toEqual(before)
  })

  it('ask for production with a purpose for each scope', async () => {
    const { answer } = await post('/production/request', { 'purpose.svc.me.profile:read': ' ' })
    expect(answer.status).toBe(400)
    const { page } = await post('/production/request')
    expect(page.text).toContain('Nobody can sign in with this client until it is approved.')
    const made = decodeURIComponent(page.url.pathname.split('/').at(-1)!)
    expect(await team.world.db.client.findUniqueOrThrow({ where: { id: made } })).toMatchObject({
      environment: 'production',
      state: 'requested',
      purpose: { 'svc.me.profile:read': 'It greets the member.' },
    })
  })

  it('ask for production of the scopes that are ticked alone, and withdraw it', async () => {
    const [profile, events] = ['svc.me.profile:read', 'svc.me.events:read']
    await team.world.db.client.update({ where: { id: client }, data: { scopes: [profile, events] } })
    const form = (await team.asOwner.get(`${team.clientAt(client)}/production`)).text
    expect(form.match(/name="scopes"[^>]* checked/g)).toHaveLength(2)
    expect(form).toContain('Say what it is for')
    expect((await post('/production/request', { scopes: [profile, events] })).answer.status).toBe(400)
    const { page } = await post('/production/request')
    const made = decodeURIComponent(page.url.pathname.split('/').at(-1)!)
    const asked = await team.world.db.client.findUniqueOrThrow({ where: { id: made } })
    expect(asked.scopes).toEqual([profile])
    expect((await team.asColleague.get(team.clientAt(made))).text).not.toContain('Withdraw the request')
    expect((await team.asOwner.get(team.clientAt(made))).text).toContain('Withdraw the request')
    const withdraw = () => team.asOwner.post(`${team.clientAt(made)}/withdraw`, { version: String(asked.version) })
    expect((await team.asOwner.follow(await withdraw())).text).toContain('The request was withdrawn.')
    expect(await team.world.db.client.count({ where: { id: made } })).toBe(0)
    expect((await withdraw()).status).toBe(404)
  })

  it('show a pending change as old and new, and withdraw it', async () => {
    const uris = ['https://app.example/callback', 'https://new.example/']
    const scopes = ['svc.me.profile:read']
    const data = {
      environment: 'production' as const,
      redirectUris: [uris[0]!],
      scopes,
      wanted: { name: 'New', redirectUris: uris },
    }
    const { name, version } = await team.world.db.client.update({ where: { id: client }, data })
    const { text } = await team.asOwner.get(team.clientAt(client))
    expect(listDiff(text)).toEqual({
      Name: { del: [name], ins: ['New'] },
      'Redirect URIs': { del: [], ins: [uris[1]] },
    })
    const { page } = await post('/withdraw', { version: String(version) })
    expect(page.text).toContain('The changes were withdrawn.')
    expect(await team.world.db.client.findUniqueOrThrow({ where: { id: client } })).toMatchObject({
      name,
      redirectUris: [uris[0]],
      wanted: null,
    })
  })

  it('show the pending changes of an app as old and new, and withdraw them', async () => {
    const { db, ids } = team.world
    const before = { description: 'Before', homepage: null }
    const wanted = { description: 'After', homepage: 'https://new.example/' }
    const { version } = await db.app.update({ where: { id: ids.app }, data: { ...before, wanted } })
    const { text } = await team.asOwner.get(`${team.app}/settings`)
    expect(listDiff(text)).toEqual({
      Description: { del: ['Before'], ins: ['After'] },
      Homepage: { del: [], ins: [wanted.homepage] },
    })
    const { answer } = await post('/withdraw-changes', { version: String(version + 1) })
    expect(answer.status).toBe(409)
    const { page } = await post('/withdraw-changes', { version: String(version) })
    expect(page.text).toContain('The changes were withdrawn.')
    expect(page.text).not.toMatch(/<ins>|withdraw-changes/)
    expect(await db.app.findUniqueOrThrow({ where: { id: ids.app } })).toMatchObject({ ...before, wanted: null })
    await db.app.update({ where: { id: ids.app }, data: { description: null } })
  })

  it('remove a client that members use once its id is typed', async () => {
    const { db, ids } = team.world
    const consent = { id: `g-${client}`, clientId: client, personId: ids.member, organisationId: ids.club, scopes: [] }
    // Signed in on two devices.
    await db.consent.createMany({ data: [consent, { ...consent, id: `h-${client}` }] })
    const { clients } = asPlatform(team.world, { member: team.owner }).developer
    expect(await clients.get({ client })).toMatchObject({ members: 1, consents: 2 })
    expect(await clients.get({ client, members: false })).toMatchObject({ members: 0, consents: 2 })
    expect((await team.asOwner.get(team.clientAt(client))).text).toMatch(/<dt>Members[^<]*<\/dt>\s*<dd>1</)
    expect((await team.asOwner.get(`${team.clientAt(client)}/remove`)).text).toContain('1 member will lose')
    expect((await post(`${client}/remove/confirm`, { confirm: 'another' })).answer.status).toBe(409)
    expect(await db.client.count({ where: { id: client } })).toBe(1)
    expect((await post(`${client}/remove/confirm`)).page.text).toContain('Removed.')
    expect(await db.client.count({ where: { id: client } })).toBe(0)
  })

  it('open the reference of each API with a sandbox client, and change nothing', async () => {
    const { db, ids } = team.world
    const open = async (section: string) => (await post('/reference', { section })).answer
    const before = await stored()
    const entries = await db.auditEntry.count({ where: { teamId: ids.team } })
    const { testClub } = await team.as(team.owner).testClub.get({ team: ids.team })
    const quizId = testClub!.quizzes[0]!.id
    const examples = { apps: {}, lms: { quizId }, notify: { id: testClub!.app!.id }, sync: { quizId } }
    for (const [section, values] of Object.entries(examples)) {
      const { origin, pathname, searchParams } = (await open(section)).location!
      expect(origin + pathname).toBe(`http://${section}.test/v1/docs`)
      const scopes = before.scopes.join(' ')
      expect(Object.fromEntries(searchParams)).toEqual({ client_id: client, scopes, ...values })
    }
    expect((await open('admin')).status).toBe(400)
    expect(await stored()).toEqual(before)
    expect(await db.auditEntry.count({ where: { teamId: ids.team } })).toBe(entries)
  })

  it('sign in at the reference with a public sandbox client of the web alone, at its exact addresses', async () => {
    const { db, publicPort } = team.world
    const authorize = async (redirect_uri: string) => {
      const challenge = { code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' }
      const asked = {
        response_type: 'code',
        client_id: client,
        redirect_uri,
        scope: 'svc.me.profile:read',
        ...challenge,
      }
      const path = `/v1/oauth/authorize?${new URLSearchParams(asked)}`
      return (await send(publicPort, 'GET', path, { headers: { host: 'auth.test' } })).status
    }
    const reference = 'http://apps.test/v1/docs'
    for (const section of ['apps', 'lms', 'notify', 'sync'])
      expect([section, await authorize(`http://${section}.test/v1/docs`)]).toEqual([section, 303])
    const others = ['/', '?x=1', '#x', '/errors', '/../docs', '%2f', '@evil.example/', '.evil.example'].map(
      (end) => reference + end,
    )
    for (const other of [...others, 'https://apps.test/v1/docs', 'http://auth.test/v1/docs', 'http://apps.test/docs'])
      expect([other, await authorize(other)]).toEqual([other, 400])
    const refusing = [{ environment: 'production' }, { type: 'native' }, { authentication: 'client_secret' }] as const
    for (const data of refusing) {
      const { environment, type, authentication } = await stored()
      await db.client.update({ where: { id: client }, data })
      expect([data, await authorize(reference)]).toEqual([data, 400])
      await db.client.update({ where: { id: client }, data: { environment, type, authentication } })
    }
    expect(await authorize(reference)).toBe(303)
  })
})

describe('a refused request', () => {
  it('is shown with its reason, and sent again from its page', async () => {
    const { db } = team.world
    const { page } = await post('/production/request')
    const id = decodeURIComponent(page.url.pathname.split('/').at(-1)!)
    await refuse(db, { kind: 'client', id }, 'Say <b>why</b>.', new Date())
    const shown = (await team.asOwner.get(team.clientAt(id))).text
    for (const part of ['not approved', 'Say &lt;b&gt;why&lt;/b&gt;.', `${id}/production"`])
      expect(shown).toContain(part)
    const asColleague = (await team.asColleague.get(team.clientAt(id))).text
    expect(asColleague).toContain('Only team owners can request production.')
    const form = (await team.asOwner.get(`${team.clientAt(id)}/production`)).text
    for (const part of ['It greets the member.', 'Say &lt;b&gt;why&lt;/b&gt;.']) expect(form).toContain(part)
    const fields = forms()[`/teams/${team.world.ids.team}/clients/${client}/production/request`]!
    const version = sentForm(form, 'request').get('version')!
    const changed = { ...fields, version, name: 'Clearer' }
    const again = await team.asOwner.post(`${team.clientAt(id)}/production/request`, changed)
    expect((await team.asOwner.follow(again)).text).toContain(
      'Nobody can sign in with this client until it is approved.',
    )
    expect(await db.client.findUniqueOrThrow({ where: { id } })).toMatchObject({ name: 'Clearer', refusal: null })
  })

  it('of a client in use fills the forms with what was asked for', async () => {
    const { db } = team.world
    const used = await team.production()
    const { version } = await db.client.findUniqueOrThrow({ where: { id: used } })
    const redirectUris = ['https://elsewhere.example/']
    await team.as(team.owner).clients.update({ client: used, version, redirectUris })
    await refuse(db, { kind: 'client', id: used }, 'Whose host is this?', new Date())
    const shown = await team.asOwner.get(team.clientAt(used))
    expect(shown.text).toContain('Whose host is this?')
    expect(shown.text).not.toContain(`${redirectUris[0]}</textarea>`)
    expect((await team.asOwner.get(`${team.clientAt(used)}/sign-in?again=yes`)).text).toContain(
      `${redirectUris[0]}</textarea>`,
    )
  })
})

describe('the forms of people', () => {
  it('invite, withdraw, change a role and remove', async () => {
    const { db, ids } = team.world
    expect((await post('/invite')).page.text).toContain('new@example.org')
    const { id } = await db.teamInvitation.findFirstOrThrow({ where: { teamId: ids.team } })
    await team.asOwner.post(`${team.own}/people/withdraw`, { invitation: id })
    expect(await db.teamInvitation.count({ where: { id } })).toBe(0)
    const of = { teamId: ids.team, personId: team.colleague }
    await post('/role')
    expect((await db.teamMember.findUniqueOrThrow({ where: { of } })).role).toBe('owner')
    await post(`${team.colleague}/remove/confirm`, { role: 'owner' })
    expect(await db.teamMember.findUnique({ where: { of } })).toBeNull()
    const last = await team.asOwner.post(`${team.own}/people/${team.owner}/remove/confirm`, { role: 'owner' })
    expect(last.status).toBe(409)
    expect(last.text).toContain('A team needs at least one owner.')
    expect(await db.teamMember.count({ where: { teamId: ids.team } })).toBe(1)
  })
})

describe('the forms of a webhook', () => {
  it('set, test and remove it, and never show the secret', async () => {
    const set = await post('/webhook/set')
    expect(set.page.text).toContain('stored, and never shown')
    expect(set.page.text).not.toContain('4711')
    expect(set.page.text).toMatch(/<dt>Secret set<\/dt><dd><time /)
    expect(set.page.text).toContain('<dt>Secret last used</dt><dd>not by any stored delivery</dd>')
    const test = await post('/webhook/test')
    expect(test.page.text).toContain('The test event is on its way.')
    expect(test.page.text).toContain('webhook.test')
    expect(test.page.text).not.toContain('4711')
    expect((await post('/webhook/remove/confirm')).page.text).toContain('This app has no webhook.')
    expect((await post('/webhook/test')).answer.status).toBe(409)
  })

  it('show until when a former secret signs, and end it', async () => {
    await post('/webhook/remove/confirm')
    const { page } = await post('/webhook/set')
    expect(page.text).not.toContain('Former secret')
    const replaced = await post('/webhook/set', { secret: 'secret-4712' })
    expect(replaced.page.text).toMatch(/It signs alongside the current one until <time datetime="/)
    expect(replaced.page.text).not.toContain('4711')
    const german = await team.asOwner.get(`${team.app}/webhook`, { 'accept-language': 'de' })
    expect(german.text).toContain('Es signiert neben dem aktuellen bis <time')
    const ended = await post('/webhook/end-former-secret')
    expect(ended.page.text).toContain('Ended. Former secrets no longer sign anything.')
    expect(ended.page.text).not.toContain('It signs alongside')
    const stored = await team.world.db.app.findUniqueOrThrow({ where: { id: team.world.ids.app } })
    expect(stored).toMatchObject({ webhookSecret: expect.any(String), formerSecret: null, formerUntil: null })
    expect((await team.asOwner.get(`${team.own}/audit`)).text).toMatch(
      /Former secret ended[\s\S]*<dt>Signs until<\/dt>/,
    )
  })

  it('keep the secret when the field is empty, and remove it by its own choice alone', async () => {
    const { world, app, asOwner } = team
    const secret = async () => (await world.db.app.findUniqueOrThrow({ where: { id: world.ids.app } })).webhookSecret
    await post('/webhook/remove/confirm')
    await post('/webhook/set', { secret: '' })
    expect((await asOwner.get(`${app}/webhook`)).text).not.toContain('name="removesSecret"')
    await post('/webhook/set')
    const first = await secret()
    const kept = await post('/webhook/set', { url: 'https://hooks.example/other', secret: '' })
    expect(kept.page.text).toContain('stored, and never shown')
    expect([await secret(), first]).toEqual([first, expect.any(String)])
    const { answer } = await post('/webhook/set', { url: 'https://other.example/', secret: '' })
    expect(answer.text).toContain('id="set-secret-problem"><span>A url with another host or port needs a secret.')
    expect([answer.status, await secret()]).toEqual([400, first])
    await world.db.app.update({ where: { id: world.ids.app }, data: { secretSetAt: null } })
    expect((await asOwner.get(`${app}/webhook`)).text).toContain('<dt>Secret set</dt><dd>not recorded</dd>')
    const removed = await post('/webhook/set', { secret: '', removesSecret: 'yes' })
    expect(removed.page.text).not.toContain('<dt>Secret set</dt>')
    expect(removed.page.text).toContain('none: requests are not signed')
    expect(await secret()).toBeNull()
  })

  it('send one of the kinds that the platform has described, and show all of them', async () => {
    const eventType = { type: 'member.joined', description: 'A <new> member.', example: { member: '<anna>' } }
    await asPlatform(team.world).events.describe(eventType)
    await post('/webhook/set')
    const { text } = await team.asOwner.get(`${team.app}/webhook`)
    expect(text).toContain('<option value="member.joined">member.joined</option>')
    expect(text).toContain('A &lt;new&gt; member.')
    expect(text).toContain('&quot;member&quot;: &quot;&lt;anna&gt;&quot;')
    const sent = await post('/webhook/test', { type: 'member.joined' })
    expect(sent.page.text).toContain('member.joined')
    const events = () => team.world.db.publishedEvent.count({ where: { appId: team.world.ids.app } })
    const before = await events()
    const refused = await post('/webhook/test', { type: 'member.moved' })
    expect([refused.answer.status, await events()]).toEqual([400, before])
    expect(refused.answer.text).toContain('type is not in the event catalogue.')
  })

  it('show neither a secret nor another address after a refusal', async () => {
    const { answer } = await post('/webhook/set', { url: 'http://hooks.example/in' })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('value="http://hooks.example/in"')
    expect(answer.text).not.toContain('4711')
  })

  it('deliver one failed delivery again, or all of them', async () => {
    const [one, two] = [await team.failed(), await team.failed()]
    const state = async (id: string) => (await team.world.db.delivery.findUniqueOrThrow({ where: { id } })).state
    expect((await post('/retry', {}, one)).page.text).toContain('The delivery is being retried now.')
    expect([await state(one), await state(two)]).toEqual(['pending', 'failed'])
    expect((await post('/retry-failed')).page.text).toContain('The failed deliveries are being retried now.')
    expect(await state(two)).toBe('pending')
    expect((await post('/retry-failed')).page.text).toContain('There was no failed delivery to retry.')
  })

  it('deliver the failed ones of a type or subscription again, and return to this filter', async () => {
    const { db, ids } = team.world
    const [test, joined] = [await team.failed(), await mintReceiver(db, ids.app, 'joined', 'member.joined')]
    const other = await mintDelivery(db, joined, { state: 'failed' })
    const state = async (id: string) => (await db.delivery.findUniqueOrThrow({ where: { id } })).state
    const { answer } = await post('/retry-failed', { type: 'not a type' })
    expect([answer.status, await state(test), await state(other)]).toEqual([400, 'failed', 'failed'])
    const filter = { type: 'member.joined', subscription: joined.subscription }
    const { page } = await post('/retry-failed', filter)
    expect(page.text).toContain('The failed deliveries are being retried now.')
    expect(page.text).toContain('<option value="member.joined" selected>')
    expect([await state(test), await state(other)]).toEqual(['failed', 'pending'])
  })
})

describe('the test club', () => {
  const at = () => `${team.own}/test-club`

  it('is shown with its ids and solutions, and is as new after a reset', async () => {
    const { db, ids } = team.world
    const club = await db.organisation.findFirstOrThrow({ where: { testTeamId: ids.team, kind: 'club' } })
    await db.storageEntry.deleteMany({ where: { clubId: club.id } })
    const { page } = await post('/reset/confirm')
    expect(page.text).toContain('The test club is ready.')
    for (const shown of [club.id, 'Alex Test', 'Youth U16', 'Solution: Green']) expect(page.text).toContain(shown)
    expect(await db.storageEntry.count({ where: { clubId: club.id, appId: ids.app } })).toBe(3)
  })

  it('has a form for each result to review', async () => {
    const { db, ids } = team.world
    const quiz = await db.quiz.findFirstOrThrow({
      where: { academy: { testTeamId: ids.team }, title: 'Practice' },
      include: { questions: true, academy: { include: { memberships: true } } },
    })
    const { id: result } = await db.quizResult.create({
      data: {
        quizId: quiz.id,
        personId: quiz.academy.memberships[0]!.personId,
        score: 0,
        passed: false,
        threshold: 60,
        reviewStatus: 'pending_review',
        gradedQuestions: 1,
        submittedAt: new Date(),
      },
    })
    await db.answer.createMany({
      data: quiz.questions.map(({ id, type }) => ({
        resultId: result,
        quizId: quiz.id,
        questionId: id,
        value: '"<i>Hello</i>"',
        correct: type === 'single' ? true : null,
      })),
    })
    expect((await team.asOwner.get(at())).text).toContain('&quot;&lt;i&gt;Hello&lt;/i&gt;&quot;')
    const { page } = await post('/review', { result, correct: 'yes' })
    expect(page.text).toContain('Reviewed.')
    expect(await db.quizResult.findUniqueOrThrow({ where: { id: result } })).toMatchObject({ reviewStatus: 'passed' })
    const again = await post('/review', { result, correct: 'no' })
    expect(again.answer.status).toBe(409)
  })
})

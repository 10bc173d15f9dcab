import { beforeEach, describe, expect, it } from 'vitest'
import { holdApproval, requestApproval } from '../../routers/approvals/approvals.ts'
import { consentTo, mintMember } from '../support/app-server.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { asPlatform, mintApp } from '../support/platform.ts'
import { reportingDue } from '../support/reported-due.ts'
import { startedAround } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { authWorld, issuer, register, startAuthWorld } from './auth-world.ts'
import type { Browser, Page } from './browser.ts'
import { offered } from './browser.ts'

const scope = 'svc.me.profile:read'
/** With CLUB_APPROVAL, and without it. */
const here = authWorld({ clubApproval: true })
const without = startedAround(() => startAuthWorld({ like: here.world }))

let app: string
let client: string
let member: string
beforeEach(async () => {
  app = await mintApp(here.world)
  client = await register(here.world, { appId: app })
  member = await mintMember(here.world)
})

const set = (state: 'approved' | 'refused' | 'withdrawn', club = here.world.ids.club) =>
  asPlatform(here.world).directory.approvals.set({ club, app, state, ...(state === 'refused' && { reason: 'No.' }) })
const states = async () => {
  const rows = await here.world.db.clubApproval.findMany({ where: { appId: app } })
  return Object.fromEntries(rows.map(({ organisationId, state }) => [organisationId, state]))
}
const consents = () => here.world.db.consent.findMany({ where: { client: { appId: app }, withdrawnAt: null } })

async function joinClub(name = 'Second') {
  const club = id('club')
  const memberships = { create: { personId: member } }
  await here.world.db.organisation.create({ data: { id: club, kind: 'club', name, memberships } })
  return club
}

async function atConsent(asked = scope, of = client) {
  const browser = here.newBrowser()
  const page = await here.toConsent(browser, here.authorizeUrl({ client: of, scope: asked }).url, member)
  const submit = (fields: Record<string, string>) => browser.submit(page, 'consent', fields)
  return { page, submit, allow: (organisation: string) => submit({ organisation, scope, decision: 'allow' }) }
}
const mayAllow = (page: Page) => offered(page, 'decision').includes('allow')

describe('a member of a club that has not approved an app', () => {
  it('sees why, asks the club once, and the app gets access_denied', async () => {
    const { page, submit } = await atConsent()
    expect([page.status, mayAllow(page)]).toEqual([200, false])
    expect(page.text).toContain('needs your club’s approval')
    expect(offered(page, 'ask')).toEqual([here.world.ids.club])
    expect(await states()).toEqual({})
    const asked = await submit({ ask: here.world.ids.club })
    expect([asked.status, offered(asked, 'ask')]).toEqual([200, []])
    expect(asked.text).toContain('has been asked')
    expect((await submit({ ask: here.world.ids.club })).status).toBe(200)
    const [row, ...more] = await here.world.db.clubApproval.findMany({ where: { appId: app } })
    expect(more).toEqual([])
    const mails = await here.world.db.mail.findMany({ where: { approvalId: row!.id } })
    expect(mails.every(({ askedBy, language }) => askedBy === member && language === 'en')).toBe(true)
    expect(row).toMatchObject({ state: 'requested', requestedAt: expect.any(Date), decidedAt: null, decidedBy: null })
    const back = await submit({ decision: 'refuse' })
    expect(Object.fromEntries(back.location!.searchParams)).toMatchObject({
      error: 'access_denied',
      error_description: 'no club of the member has approved this app',
    })
    expect(await consents()).toEqual([])
  })

  it.each(['refused', 'withdrawn'] as const)('cannot ask again once it is %s', async (state) => {
    if (state === 'withdrawn') await set('approved')
    await set(state)
    const { page, submit } = await atConsent()
    expect(page.text).toContain('does not allow this app')
    expect([mayAllow(page), offered(page, 'ask')]).toEqual([false, []])
    await submit({ ask: here.world.ids.club })
    expect(await states()).toEqual({ [here.world.ids.club]: state })
  })

  it('cannot allow it by sending the form', async () => {
    for (const state of [undefined, 'refused'] as const) {
      if (state) await set(state)
      const { allow } = await atConsent()
      const refused = await allow(here.world.ids.club)
      expect([refused.status, mayAllow(refused)]).toEqual([400, false])
      expect(await consents()).toEqual([])
    }
  })

  it('cannot ask a club that they are not in, an academy, nor from another site', async () => {
    const other = id('club')
    await here.world.db.organisation.create({ data: { id: other, kind: 'club', name: 'Other' } })
    const { page, submit } = await atConsent()
    for (const club of [other, here.world.ids.academy, 'a\0b', ''])
      expect((await submit({ ask: club })).status).toBe(200)
    const url = new URL(/action="([^"]+\/consent)"/.exec(page.text)![1]!, page.url)
    const forged = await here.newBrowser().post(url, { ask: here.world.ids.club }, { origin: 'https://evil.example' })
    expect(forged.status).toBe(403)
    expect(await states()).toEqual({})
  })

  it('asks at most ten times a minute', async () => {
    const clubs = await Promise.all(Array.from({ length: 11 }, (_, n) => joinClub(`Club ${n}`)))
    const { submit } = await atConsent()
    const answers = []
    for (const club of clubs) answers.push((await submit({ ask: club })).status)
    expect(answers).toEqual([...Array(10).fill(200), 429])
    expect(Object.keys(await states())).toHaveLength(10)
  })
})

describe('a member of several clubs', () => {
  it('is offered those that have approved it, and sees the others as not available', async () => {
    const second = await joinClub()
    await set('approved', second)
    const { page, allow } = await atConsent()
    expect(mayAllow(page)).toBe(true)
    expect([offered(page, 'organisation'), offered(page, 'ask')]).toEqual([[second], [here.world.ids.club]])
    expect((await allow(here.world.ids.club)).status).toBe(400)
    expect(await consents()).toEqual([])
    expect((await allow(second)).location?.searchParams.get('code')).toBeTruthy()
    expect((await consents()).map(({ organisationId }) => organisationId)).toEqual([second])
  })
})

describe('an approval', () => {
  it('lets members allow the app; its withdrawal ends their access within 5 s', async () => {
    await set('approved')
    const { club } = here.world.ids
    const tokens = await here.toTokens({ client, scope }, member, club)
    expect(await here.profileStatus(tokens.access_token)).toBe(200)
    expect(await reportingDue(here.world.core, () => set('withdrawn'))).toEqual({ ended: 1 })
    here.world.advance(5)
    expect(await here.profileStatus(tokens.access_token)).toBe(401)
    expect(await here.refresh(client, tokens.refresh_token)).toMatchObject({ json: { error: 'invalid_grant' } })
    expect(mayAllow((await atConsent()).page)).toBe(false)
  })

  it('that is being withdrawn lets no consent through', async () => {
    await set('approved')
    const { allow } = await atConsent()
    const refused = await meanwhile(
      here.world.db,
      (tx) => tx.clubApproval.updateMany({ where: { appId: app }, data: { state: 'withdrawn' } }),
      () => allow(here.world.ids.club),
    )
    expect([refused.status, mayAllow(refused)]).toEqual([400, false])
    expect(await consents()).toEqual([])
    expect(await here.world.db.consent.count({ where: { clientId: client } })).toBe(0)
    const grants = await here.world.db.oauthRecord.findMany({ where: { model: 'Grant' } })
    expect(grants.filter(({ payload }) => (payload as { clientId: string }).clientId === client)).toEqual([])
  })

  it('is withdrawn after a consent that is being given, and ends it', async () => {
    await set('approved')
    const { club } = here.world.ids
    const ended = await meanwhile(
      here.world.db,
      async (tx) => {
        expect(await holdApproval(tx, { club, app })).toBe(true)
        const of = { clientId: client, personId: member, organisationId: club }
        await tx.consent.create({ data: { id: id('consent'), ...of, scopes: [scope] } })
      },
      () => set('withdrawn'),
    )
    expect([ended, await consents()]).toEqual([{ ended: 1 }, []])
  })
})

describe('no club has to approve', () => {
  it('an app for members of an academy', async () => {
    await here.world.db.membership.create({ data: { organisationId: here.world.ids.academy, personId: member } })
    const { page } = await atConsent('lms.me.quizzes:write')
    expect([mayAllow(page), offered(page, 'ask')]).toEqual([true, []])
  })

  it('a sandbox client, whose club is a test club', async () => {
    const sandbox = await register(here.world, { appId: app, environment: 'sandbox' })
    const { db, ids } = here.world
    const memberships = { create: { personId: await mintMember(here.world) } }
    await db.organisation.create({
      data: { id: id('test'), kind: 'club', name: 'Test', testTeamId: ids.team, memberships },
    })
    expect(mayAllow((await atConsent(scope, sandbox)).page)).toBe(true)
  })

  it('an app of a service without CLUB_APPROVAL, where nobody can ask either', async () => {
    const browser = without.newBrowser()
    const page = await without.toConsent(browser, without.authorizeUrl({ client, scope }).url, member)
    expect([mayAllow(page), offered(page, 'ask')]).toEqual([true, []])
    expect((await browser.submit(page, 'consent', { ask: here.world.ids.club })).status).toBe(400)
    expect(await states()).toEqual({})
    await set('refused')
    const tokens = await without.toTokens({ client, scope }, member, here.world.ids.club)
    expect(await here.profileStatus(tokens.access_token)).toBe(200)
  })
})

it('a client without an app is for no member of a club', async () => {
  const alone = await register(here.world, { appId: null })
  const { page } = await atConsent(scope, alone)
  expect([mayAllow(page), offered(page, 'ask')]).toEqual([false, []])
})

it('a consent from before CLUB_APPROVAL stays in force until the club refuses the app', async () => {
  const tokens = await without.toTokens({ client, scope }, member, here.world.ids.club)
  expect(await here.profileStatus(tokens.access_token)).toBe(200)
  const renewed = await here.refresh(client, tokens.refresh_token)
  expect(renewed.status).toBe(200)
  expect(await set('refused')).toEqual({ ended: 1 })
  here.world.advance(5)
  expect(await here.profileStatus(renewed.json.access_token)).toBe(401)
})

describe('the page of a club', () => {
  const at = `${issuer}/club`

  let club: string
  let administrator: string
  let app: string
  let client: string
  beforeEach(async () => {
    const { db } = here.world
    club = id('club')
    administrator = await mintMember(here.world)
    const memberships = { create: { personId: administrator, administrator: true } }
    await db.organisation.create({ data: { id: club, kind: 'club', name: 'SV <i>Nord</i>', memberships } })
    app = await mintApp(here.world, { name: 'Kuchen & Co' })
    const purpose = { 'svc.me.profile:read': 'To greet <b>members</b>.' }
    client = await register(here.world, { appId: app, scopes: ['svc.me.profile:read', 'lms.me.quizzes:read'], purpose })
  })

  async function signedIn(member = administrator): Promise<Browser> {
    const browser = here.newBrowser()
    await browser.submit(await browser.open(at), 'pick', { member })
    return browser
  }
  const ask = (of = app) => requestApproval(here.world.db, { club, app: of }, here.world.core.now())
  const row = () =>
    here.world.db.clubApproval.findFirst({
      where: { appId: app, organisationId: club },
      select: { state: true, reason: true, decidedBy: true },
    })
  const approve = (browser: Browser) => browser.post(`${at}/approve`, { club, app })
  const refuse = (browser: Browser, reason: string) => browser.post(`${at}/refuse`, { club, app, reason })
  const withdraw = (browser: Browser) => browser.post(`${at}/withdraw`, { club, app })
  const allow = async (member = administrator) => consentTo(here.world, { client, member, club })
  const inForce = () => here.world.db.consent.count({ where: { clientId: client, withdrawnAt: null } })
  const audited = () => here.world.db.auditEntry.count({ where: { target: app } })

  describe('an administrator of a club', () => {
    it('sees what was asked for, with its scopes for members of clubs and their purposes', async () => {
      await ask()
      const page = await (await signedIn()).open(at)
      expect(page.status).toBe(200)
      for (const text of [
        'SV &lt;i&gt;Nord&lt;/i&gt;',
        'Kuchen &amp; Co',
        'To greet &lt;b&gt;members&lt;/b&gt;.',
        'a member has asked',
      ]) {
        expect(page.text).toContain(text)
      }
      expect(page.text).not.toContain('quiz')
      expect(offered(page, 'app')).toEqual([app, app])
    })

    it('approves and withdraws an app, after a page that says how many members lose it', async () => {
      await ask()
      const browser = await signedIn()
      expect((await approve(browser)).text).toContain('Members of the club can now allow')
      expect(await row()).toEqual({ state: 'approved', reason: null, decidedBy: administrator })
      const others = [await mintMember(here.world), await mintMember(here.world)]
      for (const member of [administrator, ...others]) await allow(member)
      await allow(others[0])
      const asked = await browser.open(`${at}/remove?${new URLSearchParams({ club, app })}`)
      expect(asked.text).toContain('The consents of 3 members end.')
      for (const member of others) expect(asked.text).not.toContain(member)
      expect(await inForce()).toBe(4)
      const after = await withdraw(browser)
      expect([after.status, await inForce()]).toEqual([200, 0])
      expect(after.text).toContain('no longer has access')
      expect(await row()).toEqual({ state: 'withdrawn', reason: null, decidedBy: administrator })
      expect(await audited()).toBe(2)
      const again = await browser.get(`${at}/remove?${new URLSearchParams({ club, app })}`)
      expect(again.location?.pathname).toBe('/v1/oauth/club')
    })

    it('refuses an app with a reason, which every page escapes', async () => {
      await ask()
      const browser = await signedIn()
      const reason = `Not <script>alert('x')</script> "here"`
      const page = await refuse(browser, reason)
      expect(page.text).toContain('Not &lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &quot;here&quot;')
      expect(page.text).not.toContain('<script>alert')
      expect(await row()).toEqual({ state: 'refused', reason, decidedBy: administrator })
    })

    it.each([
      ['no reason', ''],
      ['spaces', '   '],
      ['NUL', 'a\0b'],
      ['an invisible character', 'a\u202eb'],
      ['501 characters', 'x'.repeat(501)],
    ])('gives %s as the reason: it is asked for again, and nothing changes', async (_, reason) => {
      await ask()
      await allow()
      const page = await refuse(await signedIn(), reason)
      expect(page.status).toBe(400)
      expect(page.text).toContain('Give a reason of at most 500 characters.')
      expect([(await row())?.state, await inForce(), await audited()]).toEqual(['requested', 1, 0])
    })

    it('finds a refused reason again in its field, escaped, on the same page of the list', async () => {
      const apps = await Promise.all(Array.from({ length: 21 }, (_, n) => mintApp(here.world, { name: `App ${n}` })))
      for (const one of apps) await ask(one)
      const browser = await signedIn()
      const listed = await browser.open(`${at}?page=1`)
      const [last] = offered(listed, 'app')
      const form = new URLSearchParams({ club, page: '1' })
      expect(listed.text).toContain(`action="/v1/oauth/club/refuse?${String(form).replace('&', '&amp;')}"`)
      for (const reason of ['Not "yet" <b>\u202e', 'x'.repeat(501)]) {
        const page = await browser.post(`${at}/refuse?${form}`, { club, app: last!, reason })
        expect([page.status, offered(page, 'app').includes(last!)]).toEqual([400, true])
        const shown = reason.replaceAll('"', '&quot;').replace('<', '&lt;').replace('>', '&gt;')
        expect(offered(page, 'reason').filter(Boolean)).toEqual([shown])
      }
    })

    it('sees an app that members use already, and ends their access by refusing it', async () => {
      await allow()
      const browser = await signedIn()
      expect((await browser.open(at)).text).toContain('in use, not decided')
      await refuse(browser, 'No.')
      expect([(await row())?.state, await inForce()]).toEqual(['refused', 0])
    })

    it('decides on nothing that neither a member asked for nor uses', async () => {
      const browser = await signedIn()
      for (const of of [app, 'none', 'a\0b', '']) {
        expect((await browser.post(`${at}/approve`, { club, app: of })).status).toBe(404)
      }
      expect([await row(), await audited()]).toEqual([null, 0])
    })

    it('learns that it was decided otherwise, and changes nothing', async () => {
      await ask()
      const browser = await signedIn()
      expect((await withdraw(browser)).status).toBe(409)
      await approve(browser)
      const late = await refuse(browser, 'No.')
      expect([late.status, (await row())?.state]).toEqual([409, 'approved'])
      expect(late.text).toContain('decided otherwise')
    })

    it('pages through many apps, requests first', async () => {
      const apps = await Promise.all(Array.from({ length: 21 }, (_, n) => mintApp(here.world, { name: `App ${n}` })))
      for (const one of apps) await ask(one)
      await here.world.db.clubApproval.create({
        data: { organisationId: club, appId: app, state: 'approved', decidedAt: new Date() },
      })
      const browser = await signedIn()
      const shown = async (page: string) => new Set(offered(await browser.open(`${at}?page=${page}`), 'app'))
      const [first, second] = [await shown('0'), await shown('1')]
      expect([first.size, second.size, second.has(app)]).toEqual([20, 2, true])
      expect(new Set([...first, ...second]).size).toBe(22)
      for (const page of ['-1', 'x', '1e9', '1.5']) expect(await shown(page)).toEqual(first)
      expect(await shown('9999')).toEqual(new Set())
    })

    it('makes at most 30 decisions a minute', async () => {
      await ask()
      const browser = await signedIn()
      const answers = []
      for (let n = 0; n < 30; n++) answers.push((await browser.post(`${at}/approve`, { club, app: 'unknown' })).status)
      answers.push((await approve(browser)).status)
      expect([answers, (await row())?.state]).toEqual([[...Array(30).fill(404), 429], 'requested'])
    })

    it('finds the page from the connected apps, where others find no link to it', async () => {
      const hasLink = async (member: string) =>
        (await (await signedIn(member)).open(`${issuer}/connected`)).text.includes('<a href="/v1/oauth/club">')
      expect(await hasLink(administrator)).toBe(true)
      expect(await hasLink(await mintMember(here.world))).toBe(false)
    })

    it('of several clubs has a page for each', async () => {
      const other = id('club')
      const memberships = { create: { personId: administrator, administrator: true } }
      await here.world.db.organisation.create({ data: { id: other, kind: 'club', name: 'Zweiter', memberships } })
      await ask()
      const browser = await signedIn()
      expect(offered(await browser.open(`${at}?club=${club}`), 'app')).toEqual([app, app])
      const page = await browser.open(`${at}?club=${other}`)
      expect([page.status, offered(page, 'app')]).toEqual([200, []])
      expect(page.text).toContain(`?club=${club}`)
    })
  })

  describe('an administrator of two clubs', () => {
    let second: string
    let page: string
    beforeEach(async () => {
      second = id('club')
      page = `${at}?${new URLSearchParams({ club: second })}`
      const memberships = { create: { personId: administrator, administrator: true } }
      // After the other one of the list.
      await here.world.db.organisation.create({ data: { id: second, kind: 'club', name: 'ZZ', memberships } })
      await requestApproval(here.world.db, { club: second, app }, here.world.core.now())
    })
    const signInAt = async (address: string) => {
      const browser = here.newBrowser()
      const form = await browser.open(address)
      return { browser, form, signIn: () => browser.submit(form, 'pick', { member: administrator }) }
    }

    it('gets from a mail, through the sign-in, to the page of its club, also after a second click', async () => {
      const { signIn } = await signInAt(page)
      for (const shown of [await signIn(), await signIn()]) {
        expect([shown.status, shown.url.href, offered(shown, 'club')]).toEqual([200, page, [second, second]])
      }
    })

    it('gets there also where the sign-in takes a reload, or a choice of the language', async () => {
      const { browser, form, signIn } = await signInAt(page)
      const wrong = await browser.submit(form, 'pick', { member: 'nobody' })
      const chosen = await browser.post(`${issuer}/language`, { language: 'en' }, { referer: wrong.url.href })
      expect((await browser.follow(chosen)).url.href).toBe(page)
      expect((await signIn()).url.href).toBe(page)
    })

    it('gets where an address of the page leads, and nowhere else', async () => {
      for (const [address, then] of [
        [`${at}/remove?${new URLSearchParams({ club: second, app })}`, page],
        [`${page}&next=https://evil.example/`, `${page}&next=https://evil.example/`],
        [`${page}&more=${'x'.repeat(3_000)}`, at],
      ] as const) {
        const { browser, signIn } = await signInAt(address)
        expect((await signIn()).url.href).toBe(then)
        await browser.post(`${at}/sign-out`, {})
        expect((await browser.submit(await browser.open(at), 'pick', { member: administrator })).url.href).toBe(at)
      }
    })

    it('stays on the page of its club after a form, a reload and a choice of the language', async () => {
      const { browser, signIn } = await signInAt(`${page}&page=0`)
      const [, action] = /<form method="post" action="([^"]+\/approve[^"]*)"/.exec((await signIn()).text)!
      const form = new URL(action!.replaceAll('&amp;', '&'), at)
      expect((await browser.post(form, { club: second, app })).status).toBe(200)
      expect((await browser.open(form)).url.href).toBe(page)
      const chosen = await browser.post(`${issuer}/language`, { language: 'en' }, { referer: form.href })
      expect((await browser.follow(chosen)).url.href).toBe(page)
      expect((await here.newBrowser().post(form, { club: second, app })).location?.href).toBe(page)
    })
  })

  describe('nobody else decides', () => {
    const people: [string, () => Promise<string>][] = [
      ['a member', async () => join({})],
      ['a former administrator', async () => join({ administrator: true, leftAt: new Date(Date.now() - 1_000) })],
      [
        'an administrator of another club',
        async () => {
          const person = await join({})
          const memberships = { create: { personId: person, administrator: true } }
          await here.world.db.organisation.create({
            data: { id: id('club'), kind: 'club', name: 'Other', memberships },
          })
          return person
        },
      ],
      [
        'an administrator of an academy',
        async () => {
          const person = await join({})
          const { academy: organisationId } = here.world.ids
          await here.world.db.membership.create({ data: { organisationId, personId: person, administrator: true } })
          return person
        },
      ],
    ]
    async function join(more: object) {
      const person = await mintMember(here.world)
      await here.world.db.membership.create({ data: { organisationId: club, personId: person, ...more } })
      return person
    }

    it.each(people)('%s', async (_, mint) => {
      await ask()
      await allow()
      const browser = await signedIn(await mint())
      for (const act of [approve, withdraw, (of: Browser) => refuse(of, 'No.')])
        expect((await act(browser)).status).toBe(404)
      expect((await browser.get(`${at}?club=${club}`)).status).toBe(404)
      expect((await browser.get(`${at}/remove?${new URLSearchParams({ club, app })}`)).status).toBe(404)
      expect([(await row())?.state, await inForce(), await audited()]).toEqual(['requested', 1, 0])
    })

    it('an administrator who stops being one meanwhile', async () => {
      await ask()
      const browser = await signedIn()
      const late = await meanwhile(
        here.world.db,
        (tx) =>
          tx.membership.update({
            where: { of: { organisationId: club, personId: administrator } },
            data: { administrator: false },
          }),
        () => approve(browser),
      )
      expect([late.status, (await row())?.state]).toEqual([404, 'requested'])
      const page = await browser.open(at)
      expect([page.status, page.text.includes('For administrators of a club')]).toEqual([403, true])
    })

    it('nobody who is signed out, and no other site', async () => {
      await ask()
      const stranger = here.newBrowser()
      for (const act of [approve, withdraw]) expect((await act(stranger)).location?.href).toBe(at)
      const browser = await signedIn()
      for (const headers of [
        { origin: 'https://evil.example' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'null' },
      ]) {
        for (const step of ['approve', 'refuse', 'withdraw', 'sign-out']) {
          expect((await browser.post(`${at}/${step}`, { club, app, reason: 'x' }, headers)).status).toBe(403)
        }
      }
      expect((await row())?.state).toBe('requested')
      expect((await browser.open(at)).text).toContain('Kuchen')
      await browser.post(`${at}/sign-out`, {})
      expect((await browser.open(at)).text).toContain('and see the apps of your club')
    })

    it('nobody without CLUB_APPROVAL: there is no page', async () => {
      await ask()
      const browser = without.newBrowser()
      await browser.submit(await browser.open(`${issuer}/connected`), 'pick', { member: administrator })
      expect((await browser.get(at)).status).toBe(404)
      expect((await approve(browser)).status).toBe(404)
      expect((await row())?.state).toBe('requested')
    })
  })
})

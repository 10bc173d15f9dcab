import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { MAX_ICONS } from '../../server/browser/pictures.ts'
import { authWorld, issuer, redirectUri, register } from './auth-world.ts'
import type { Browser } from './browser.ts'
import { offered, readFormAction } from './browser.ts'
import { createMember } from './members.ts'

const connected = `${issuer}/connected`
const scope = 'svc.me.profile:read'
const logo = Buffer.from('89504e470d0a1a0a00ff', 'hex')
const version = createHash('md5').update(logo).digest('hex')

const auth = authWorld()

const describeApp = (data: { homepage?: string | null; logo?: Uint8Array<ArrayBuffer> | null }) =>
  auth.world.db.app.update({ where: { id: auth.world.ids.app }, data, select: { id: true } })
const consentPage = (browser: Browser, member = auth.world.ids.member, more = {}) =>
  auth.toConsent(browser, auth.authorizeUrl({ client: auth.client, scope, more }).url, member)
const iconPath = () => `/v1/oauth/icons/${auth.world.ids.app}/${version}`

describe('the consent page', () => {
  it('has a letter in place of an icon, and no link, for an app without them', async () => {
    await describeApp({ homepage: null, logo: null })
    const { text } = await consentPage(auth.newBrowser())
    expect(text).toContain('<span class="icon" aria-hidden="true">A</span>')
    expect(text).not.toContain('target="_blank"')
  })

  it('shows the icon from our own origin, and the homepage by its host', async () => {
    await describeApp({ homepage: 'https://app.example/about?a=1&b=2', logo: new Uint8Array(logo) })
    const browser = auth.newBrowser()
    const { text } = await consentPage(browser)
    expect(text).toContain(
      '<a href="https://app.example/about?a=1&amp;b=2" rel="noreferrer noopener" target="_blank">app.example</a>',
    )
    expect(text).toContain(`<img class="icon" src="${iconPath()}" width="48" height="48" alt="">`)
    const icon = await browser.get(`http://auth.test${iconPath()}`)
    expect(icon.status).toBe(200)
    expect(icon.headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(logo.length),
      'cache-control': 'public, max-age=31536000, immutable, no-transform',
      'x-content-type-options': 'nosniff',
      etag: `"${version}"`,
    })
    const again = await browser.get(`http://auth.test${iconPath()}`, { 'if-none-match': `"${version}"` })
    expect(again.status).toBe(304)
  })

  it("has the app's description and what each scope is for, in its team's words", async () => {
    const { db, ids } = auth.world
    await db.app.update({
      where: { id: ids.app },
      data: { description: 'Plans & <b>results</b>' },
      select: { id: true },
    })
    const purpose = { [scope]: 'To greet <i>members</i>', constructor: 'never' }
    await db.client.update({ where: { id: auth.client }, data: { purpose }, select: { id: true } })
    const { text } = await consentPage(auth.newBrowser())
    expect(text).toContain('<p class="about"><bdi>Plans &amp; &lt;b&gt;results&lt;/b&gt;</bdi></p>')
    expect(text.match(/<span class="purpose">.*?<\/span>/g)).toEqual([
      '<span class="purpose"><bdi>To greet &lt;i&gt;members&lt;/i&gt;</bdi></span>',
    ])
  })

  it.each(['javascript:alert(1)', 'http://app.example/', 'app.example'])('has no link to %s', async (homepage) => {
    await describeApp({ homepage })
    expect((await consentPage(auth.newBrowser())).text).not.toContain('target="_blank"')
  })

  it('links to the connected apps, and says where the browser returns to', async () => {
    const { text } = await consentPage(auth.newBrowser())
    expect(text).toContain('<a href="/v1/oauth/connected">Connected apps</a>')
    expect(text).toContain('<strong><bdi>app.example</bdi></strong>')
  })
})

describe('an icon', () => {
  it('is there for its app and version alone', async () => {
    await describeApp({ logo: new Uint8Array(logo) })
    const browser = auth.newBrowser()
    const other = version.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))
    for (const path of [
      iconPath().replace(version, other),
      iconPath().replace(auth.world.ids.app, 'unknown'),
      iconPath().replace(auth.world.ids.app, 'a%00b'),
      iconPath().replace(version, 'x'),
    ]) {
      expect((await browser.get(`http://auth.test${path}`)).status, path).toBe(404)
    }
  })

  it('is counted by address, also where there is none: 429 above the limit, for this address alone', async () => {
    await describeApp({ logo: new Uint8Array(logo) })
    const [flood, other] = [auth.newBrowser(), auth.newBrowser()]
    flood.localAddress = '127.0.0.81'
    other.localAddress = '127.0.0.82'
    const icon = `http://auth.test${iconPath()}`
    const none = icon.replace(version, '0'.repeat(32))
    const statuses = []
    for (let n = 0; n < MAX_ICONS; n++) statuses.push((await flood.get(n % 2 ? none : icon)).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(MAX_ICONS / 2)
    expect(statuses.filter((status) => status === 404)).toHaveLength(MAX_ICONS / 2)
    const refused = await flood.get(icon)
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60'])
    expect((await other.get(icon)).status).toBe(200)
  })
})

describe('another account at the consent page', () => {
  it('signs in for the same request; until then the first one stays signed in', async () => {
    const { db, ids } = auth.world
    const other = await createMember(db, { email: `o-${ids.app}@example.org` })
    const browser = auth.newBrowser()
    const page = await consentPage(browser, ids.member, { prompt: 'consent' })
    const form = await browser.open(new URL(`${readFormAction(page)}/switch`, page.url))
    expect(form.text).toContain('to continue to')
    expect((await browser.open(connected)).text).toContain('Apps with access to data of')
    const again = await browser.submit(form, 'pick', { member: other })
    const { firstName, lastName } = await db.person.findUniqueOrThrow({ where: { id: other } })
    expect(again.text).toContain(`You are signed in as <strong><bdi>${firstName} ${lastName}</bdi></strong>`)
    const [organisation = ''] = offered(again, 'organisation')
    const back = await browser.submit(again, 'consent', { organisation, scope, decision: 'allow' })
    expect(back.location!.href).toMatch(`${redirectUri}?code=`)
    expect(back.location!.searchParams.get('state')).toBe('the-state')
    const consents = await db.consent.findMany({ where: { clientId: auth.client }, select: { personId: true } })
    expect(consents).toEqual([{ personId: other }])
  })
})

describe('a member without an organisation that the app is for', () => {
  it('sees why, and the way back alone', async () => {
    const { db, ids } = auth.world
    const member = await createMember(db, { email: `n-${ids.app}@example.org`, member: false })
    const browser = auth.newBrowser()
    const page = await consentPage(browser, member)
    expect(page.text).toContain('is for members of a club')
    expect(page.text).toContain('is not a member of a club at the moment')
    expect(page.text).not.toMatch(/checkbox|value="allow"|class="problem"/)
    const back = await browser.submit(page, 'consent', { decision: 'refuse' })
    expect(back.location!.searchParams.get('error')).toBe('access_denied')
  })
})

describe('Connected apps', () => {
  const signedIn = async (member: string) => {
    const browser = auth.newBrowser()
    return { browser, list: await browser.submit(await browser.open(connected), 'pick', { member }) }
  }
  const facts = (text: string) =>
    Object.fromEntries(
      [...text.matchAll(/<dt>(.*?)<\/dt><dd>(?:<time datetime="([^"]*)">.*?<\/time>|(.*?))<\/dd>/g)].map(
        ([, name, time, value]) => [name, time ?? value],
      ),
    )

  it('tells since when, the last use and the end', async () => {
    const { db, ids, advance } = auth.world
    const client = await register(auth.world)
    const { code, verifier } = await auth.toCode({ client, scope })
    const { id: grantId, createdAt } = await db.consent.findFirstOrThrow({ where: { clientId: client } })
    const since = createdAt.toISOString()
    const ends = new Date(createdAt.getTime() + 365 * 86_400_000).toISOString()
    const seen = async () => facts((await signedIn(ids.member)).list.text)
    expect(await seen()).toMatchObject({ 'Allowed on': since, 'Last used': 'not yet', 'Ends on': ends })
    const { json } = await auth.exchange(client, code, verifier)
    await auth.refresh(client, json.refresh_token)
    const { 'Last used': used } = await seen()
    expect(Date.parse(used!)).toBeGreaterThanOrEqual(Math.floor(createdAt.getTime() / 1_000) * 1_000)
    expect(Date.parse(used!)).toBeLessThanOrEqual(Date.now())
    advance(31 * 86_400)
    await db.oauthRecord.deleteMany({ where: { grantId, model: 'RefreshToken' } })
    expect(await seen()).toMatchObject({ 'Allowed on': since, 'Last used': 'more than 30 days ago', 'Ends on': ends })
    advance(-31 * 86_400)
  })

  it('asks before an app loses its access; asking changes nothing', async () => {
    const { db, ids } = auth.world
    await describeApp({ logo: new Uint8Array(logo) })
    const client = await register(auth.world)
    await auth.toTokens({ client, scope })
    const { id: consent } = await db.consent.findFirstOrThrow({ where: { clientId: client } })
    const { browser } = await signedIn(ids.member)
    const question = await browser.open(`${connected}/remove?consent=${consent}`)
    expect(question.text).toContain('<h1><img class="icon"')
    expect(question.text).toContain('Remove access for <bdi>App</bdi>?')
    expect(question.text).toContain('<a class="button" href="/v1/oauth/connected">Keep access</a>')
    expect(await db.consent.count({ where: { id: consent, withdrawnAt: null } })).toBe(1)
    const after = await browser.submit(question, 'withdraw', { consent: offered(question, 'consent') })
    expect(after.text).toContain('no longer has access')
    expect(await db.consent.count({ where: { id: consent, withdrawnAt: null } })).toBe(0)
    expect((await browser.get(`${connected}/remove?consent=${consent}`)).location!.href).toBe(connected)
  })

  it('asks nobody about another member’s consent, nor signed out', async () => {
    const { db, ids } = auth.world
    const client = await register(auth.world)
    await auth.toTokens({ client, scope })
    const { id: consent } = await db.consent.findFirstOrThrow({ where: { clientId: client } })
    const stranger = await createMember(db, { email: `s-${ids.app}@example.org` })
    const { browser } = await signedIn(stranger)
    const { status, location } = await browser.get(`${connected}/remove?consent=${consent}`)
    expect([status, location!.href]).toEqual([303, connected])
    const signedOut = await auth.newBrowser().get(`${connected}/remove?consent=${consent}`)
    expect([signedOut.status, signedOut.text]).toEqual([200, expect.stringContaining('Sign in')])
    expect(signedOut.text).not.toContain(consent)
  })
})

import { beforeAll, describe, expect, it } from 'vitest'
import { toBars } from '../../server/portal/usage.ts'
import { mintDelivery, mintReceiver } from '../conformance/delivery-tenant.ts'
import { flow } from '../oauth/auth-world.ts'
import { id } from '../support/tenant.ts'
import { portal, portalWorld } from './portal-world.ts'

const team = portalWorld()

const countRows = (text: string) => text.split('<tr role="row">').length - 2
const countMoments = (text: string) =>
  (/<ol class="timeline"[\s\S]*?<\/ol>/.exec(text)?.[0].split('<li ').length ?? 1) - 1
const linkTo = (text: string, label: string) =>
  new RegExp(`href="([^"]+)">${label}<`).exec(text)?.[1]?.replaceAll('&amp;', '&')
const open = async (address: string) => (await team.asOwner.get(new URL(address, portal))).text

describe('the audit log', () => {
  beforeAll(async () => {
    const { db, ids } = team.world
    const entry = { teamId: ids.team, personId: team.owner, action: 'person.setRole', at: new Date() }
    const data = Array.from({ length: 60 }, (_, at) => ({
      ...entry,
      target: `t${at}.`,
      before: { role: 'developer' },
      after: { role: `r<${at}` },
    }))
    await db.auditEntry.createMany({
      data: [
        ...data,
        // As an erasure leaves it.
        { ...entry, personId: '', target: '' },
        { ...entry, action: 'odd.action', personId: null, target: 'last' },
      ],
    })
  })

  it('pages by offset, newest first, and shows who changed what', async () => {
    const first = await open(`${team.own}/audit`)
    expect(countMoments(first)).toBe(30)
    expect(first).toContain('1 to 30<')
    expect(first).toContain('Role changed')
    expect(first).toContain('<code>odd.action</code>')
    expect(first).toContain('the operator')
    expect(first.match(/(?::|·) an erased person/g)).toHaveLength(2)
    expect(first).toMatch(/<del>.*?developer<\/del><ins>.*?<bdi>r&lt;59<\/bdi><\/ins>/)
    const second = await open(linkTo(first, 'Next')!)
    expect(countMoments(second)).toBe(30)
    const third = await open(linkTo(second, 'Next')!)
    expect([countMoments(third), linkTo(third, 'Next')]).toEqual([2, undefined])
    expect(third).toContain('t0.')
    // A minute may pass meanwhile.
    const dropTimes = (text: string) => text.replace(/<time .*?<\/time>/g, '')
    expect(dropTimes(await open(linkTo(second, 'Previous')!))).toBe(dropTimes(first))
  })

  it.each(['-1', 'x', '1e99', '0.5', ''])('begins at its start for the offset %j', async (offset) => {
    expect(await open(`${team.own}/audit?offset=${offset}`)).toContain('1 to 30')
  })
})

describe('the delivery log', () => {
  it('filters by state, event type and subscription, in the address, and keeps them on the next page', async () => {
    const { world, app } = team
    const failed = await team.failed()
    const { delivery } = await team.as(team.owner).webhook.test({ app: world.ids.app })
    const other = await mintReceiver(world.db, world.ids.app, 'joined', 'member.joined')
    const joined = await mintDelivery(world.db, other, { state: 'failed' })
    expect(countRows(await open(`${app}/deliveries`))).toBe(3)

    const some = await open(`${app}/deliveries?state=failed&type=webhook.test&subscription=test:${world.ids.app}`)
    expect([countRows(some), some.includes(failed), some.includes(delivery)]).toEqual([1, true, false])
    for (const chosen of ['failed', 'webhook.test', `test:${world.ids.app}`]) {
      expect(some).toContain(`<option value="${chosen}" selected>`)
    }
    expect(some).toContain('Retry all failed that match')
    const ofSubscription = await open(`${app}/deliveries?state=&type=&subscription=${other.subscription}`)
    expect([countRows(ofSubscription), ofSubscription.includes(joined)]).toEqual([1, true])
    expect(await open(`${app}/deliveries?state=delivered`)).toContain('No deliveries match.')

    for (let n = 0; n < 30; n++) await mintDelivery(world.db, other, { state: 'failed' })
    const first = await open(`${app}/deliveries?type=member.joined&state=failed`)
    expect(countRows(first)).toBe(30)
    const second = await open(linkTo(first, 'Next')!)
    expect([countRows(second), linkTo(second, 'Next')]).toEqual([1, undefined])
    expect(second).toContain('<option value="member.joined" selected>')
  })

  it.each(['%00', '%22%3E%3Cscript%3E', 'x'.repeat(600), "'%20OR%201=1"])('survives the filter %s', async (value) => {
    const page = `${team.app}/deliveries?state=${value}&type=${value}`
    expect((await team.asOwner.get(page)).status).toBe(200)
    const { status, text } = await team.asOwner.get(`${page}&subscription=${value}`)
    expect(status).toBe(200)
    expect(text).not.toContain('<script>')
  })

  it('shows of one each attempt, what was sent, and what was signed, as text', async () => {
    const { world, app } = team
    const failed = await team.failed()
    const { eventId, subscriptionId } = await world.db.delivery.findUniqueOrThrow({ where: { id: failed } })
    const at = new Date('2026-11-20T12:00:00Z')
    await world.db.deliveryAttempt.createMany({
      data: [
        { deliveryId: failed, number: 1, at, durationMs: 15_000, error: 'timeout' },
        { deliveryId: failed, number: 2, at, durationMs: 31, status: 500, error: 'status 500', answer: '<h1>Oh</h1>' },
      ],
    })
    await world.db.delivery.update({ where: { id: failed }, data: { lastError: 'status 500', lastAttemptAt: at } })
    await world.db.subscription.update({ where: { id: subscriptionId }, data: { secret: 'encrypted' } })
    await world.db.publishedEvent.updateMany({ where: { id: eventId }, data: { body: '{"a":\r\n"<b>"}' } })
    const text = await open(`${app}/deliveries/${failed}`)
    expect(countMoments(text)).toBe(2)
    expect(text).toContain('timeout')
    expect(text).toContain('15000 ms')
    expect(text).toContain('31 ms')
    expect(text).toContain('&lt;h1&gt;Oh&lt;/h1&gt;')
    // The error, and the name of its link to the documentation.
    expect(text.split('status 500')).toHaveLength(3)
    expect(text).toContain('href="/docs/webhooks#try-it-with-the-service:~:text=status%20500"')
    expect(text).toContain(`${failed}.${at.getTime() / 1000}.`)
    // As a carriage return, a browser would read it as a line feed.
    expect(text).toContain('{&quot;a&quot;:&#13;\n&quot;&lt;b&gt;&quot;}')
    expect(text).toContain(
      `href="${new URL(app).pathname}/deliveries?subscription=${encodeURIComponent(subscriptionId)}"`,
    )
  })

  it('shows of one that a worker of the former release attempted its last result', async () => {
    const failed = await team.failed()
    await team.world.db.delivery.update({ where: { id: failed }, data: { lastStatus: 500, lastAnswer: '<h1>Oh</h1>' } })
    const text = await open(`${team.app}/deliveries/${failed}`)
    expect(text).toContain('&lt;h1&gt;Oh&lt;/h1&gt;')
    expect(text).toContain('connection refused')
    expect(text).toContain('&quot;type&quot;:&quot;webhook.test&quot;')
  })
})

describe('the request log', () => {
  it('shows refusals, filters them, and finds one by its request id', async () => {
    const { world, own } = team
    const refused = await world.call('GET', '/storage/c/none')
    await world.call('GET', '/me/profile', { claims: { scope: '' } })
    await world.requestLog.flush()
    const id = String(refused.headers['x-request-id'])
    const all = await open(`${own}/requests`)
    expect(countRows(all)).toBe(2)
    expect(all).toContain('/storage/{collection}/{key}')
    expect(all).toContain('href="http://apps.test/v1/docs/errors#keyUnknown"')
    expect(all).toContain('This key does not exist.')
    const found = await open(`${own}/requests?id=${id}`)
    expect([countRows(found), found.includes('keyUnknown')]).toEqual([1, true])
    expect(countRows(await open(`${own}/requests?status=403&client=${world.ids.client}`))).toBe(1)
    expect(await open(`${own}/requests?status=409`)).toContain('No requests match.')
    expect(countRows(await open(`${own}/requests?status=999&before=x`))).toBe(2)
    expect((await team.asOwner.get(`${own}/requests?client=%00&id=%00`)).status).toBeLessThan(500)
    for (const filter of ['client=%00', 'member=%00', 'route=%00%20x', 'route=GET%20%00', 'app=%00', 'after=%00'])
      expect((await team.asOwner.get(`${own}/requests?${filter}`)).status, filter).toBeLessThan(500)
  })

  it('shows successes too behind a switch that keeps the filters, and says that they are a sample', async () => {
    const { world, own } = team
    const { headers } = await world.call('GET', '/me/profile')
    await world.requestLog.flush()
    const id = String(headers['x-request-id'])
    const errors = await open(`${own}/requests?client=${world.ids.client}`)
    expect([errors.includes(id), errors.includes('busy minutes show a sample')]).toEqual([false, false])
    const all = await open(linkTo(errors, 'Show successes too')!)
    expect(all).toContain(`<option value="${world.ids.client}" selected>`)
    expect(all).toContain('<option value="all" selected>')
    expect(all).toContain('busy minutes show a sample')
    expect(all).toMatch(new RegExp(`<strong>200</strong>[\\s\\S]*?GET /me/profile[\\s\\S]*?Succeeded[\\s\\S]*?${id}`))
    const back = await open(linkTo(all, 'Show errors only')!)
    expect([back.includes(id), back.includes(`<option value="${world.ids.client}" selected>`)]).toEqual([false, true])
    expect(countRows(await open(`${own}/requests?id=${id}`))).toBe(1)
    const { newest } = await team.as(team.owner).requests.list({ team: world.ids.team, successes: true })
    await world.call('GET', '/me/groups')
    await world.requestLog.flush()
    const tail = await open(`${own}/requests?status=all&after=${newest}`)
    expect([countRows(tail), tail.includes('GET /me/groups')]).toEqual([1, true])
  })
})

describe('a failed sign-in in the request log', () => {
  it('is shown as text with what was sent and what is registered, and to nobody of another team', async () => {
    const { world, own } = team
    const { id: client } = await team.sandbox({ name: 'Signs in', scopes: ['svc.me.profile:read'] })
    const { authorizeUrl } = flow(world)
    const redirectUri = 'https://app.example/<script>alert(1)</script>?secret=1'
    await team
      .newBrowser()
      .get(authorizeUrl({ client, redirectUri, scope: 'svc.me.profile:read svc.me.events:read' }).url)
    await world.requestLog.flush()
    const page = await open(`${own}/requests?client=${client}`)
    expect(countRows(page)).toBe(1)
    const [row] = /<tbody[\s\S]*<\/tbody>/.exec(page)!
    expect(row).toContain('<code>invalid_redirect_uri</code>')
    expect(row).toContain('href="/docs/troubleshooting#a-library-reports-an-error"')
    expect(row).toContain(
      '<dt>Redirect URI sent</dt><dd><code>https://app.example/&lt;script&gt;alert(1)&lt;/script&gt;</code></dd>',
    )
    expect(row).toContain('<dt>Registered</dt><dd><code>https://app.example/callback</code>')
    expect(row).toContain(`clients/${client}/sign-in">`)
    expect(row).toContain('<dt>Not registered</dt><dd><code>svc.me.events:read</code>')
    expect(page).not.toMatch(/<script>alert|secret=1/)
    expect(countRows(await open(`${own}/requests?client=${client}&route=GET+/authorize`))).toBe(1)
    expect(countRows(await open(`${team.app}/requests?client=${client}`))).toBe(1)
    expect(await open(team.app)).toContain('invalid_redirect_uri')
    for (const address of [`${own}/requests`, `${team.app}/requests`])
      expect((await team.asStranger.get(`${address}?client=${client}`)).status).toBe(404)
  })
})

describe('the usage page', () => {
  it('shows the last hour, a chart and the storage', async () => {
    const { world, own } = team
    await world.call('PUT', '/storage/c/one', { body: { value: 'x'.repeat(2_000) } })
    await world.requestLog.flush()
    for (const by of ['minute', 'hour']) {
      const text = await open(`${own}/usage?by=${by}&client=${world.ids.client}`)
      expect(text).toContain('<rect class="good"')
      expect(text).toContain('2 kB')
    }
  })

  it('splits requests by app, and links to the usage of each, which a stranger gets as 404', async () => {
    const { world, own, app } = team
    await world.call('GET', '/me/profile')
    await world.requestLog.flush()
    const text = await open(`${own}/usage?by=hour`)
    const [byApp] = /aria-label="By app"[\s\S]*?<\/table>/.exec(text)!
    const address = new URL(`${app}/usage`).pathname
    expect(byApp).toContain(`href="${address}?by=hour"><bdi>App</bdi></a>`)
    const ofApp = await open(`${app}/usage?by=hour`)
    expect(ofApp).toContain(`action="${address}"`)
    expect(ofApp).toContain('<rect class="good"')
    expect(ofApp).not.toContain(`href="${address}?by=hour"`)
    expect((await team.asStranger.get(`${app}/usage`)).status).toBe(404)
  })

  it('counts the consents that replayed refresh tokens have ended, by client', async () => {
    const { world, own } = team
    expect(await open(`${own}/usage`)).toContain('no consent ended because a refresh token was sent again')
    const { member: personId, club: organisationId, client: clientId } = world.ids
    const replayedAt = new Date(world.core.now() - 1_000)
    const consent = (id: string) => ({
      id,
      personId,
      organisationId,
      clientId,
      scopes: [],
      withdrawnAt: replayedAt,
      replayedAt,
    })
    await world.db.consent.createMany({ data: [consent(id('replayed')), consent(id('replayed'))] })
    const text = await open(`${own}/usage`)
    expect(text).toMatch(/aria-label="Replayed refresh tokens"[\s\S]*? data-label="Consents ended">2<\/td>/)
    expect(text).not.toContain('no consent ended')
  })

  it('sums counts into equal spans that end now', () => {
    const now = 1_000_000
    const counts = [
      { at: now - 60, ok: 1, refused: 2, limited: 3 },
      { at: now - 120, ok: 1, refused: 0, limited: 0 },
      { at: now - 86_400 * 2, ok: 9, refused: 9, limited: 9 },
    ]
    const bars = toBars(counts, 'minute', now)
    expect(bars).toHaveLength(48)
    expect(bars.at(-1)).toEqual({ at: Math.floor(now / 1_800) * 1_800, ok: 2, refused: 2, limited: 3 })
    expect(bars.slice(0, -1).every(({ ok }) => ok === 0)).toBe(true)
    expect(toBars(counts, 'hour', now)).toHaveLength(30)
  })
})

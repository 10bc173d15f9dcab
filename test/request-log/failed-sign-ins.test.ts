import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { MAX_REFUSED, MAX_SIGN_INS, SIGN_INS_KEPT, write } from '../../server/request-log/write.ts'
import { authWorld, redirectUri, register } from '../oauth/auth-world.ts'
import { readRefusal } from '../support/platform.ts'
import { createDeveloper } from './developers.ts'

const here = authWorld()
const scope = 'svc.me.profile:read'
let developer: Awaited<ReturnType<typeof createDeveloper>>
beforeAll(async () => {
  developer = await createDeveloper(here.world)
})
/** Each test has its own. */
let client: string
beforeEach(async () => {
  client = await register(here.world, { scopes: [scope] })
})

const list = async (filter: object = {}) => {
  await here.world.requestLog.flush()
  return developer.requests.list({ team: here.world.ids.team, client, ...filter })
}
const authorize = (asked: Partial<Parameters<typeof here.authorizeUrl>[0]> = {}) =>
  here.newBrowser().get(here.authorizeUrl({ client, scope, ...asked }).url)

describe('a failed sign-in', () => {
  it('is listed with the error, what was sent and what its client has registered', async () => {
    const wrong = 'https://other.example/callback'
    const { status, headers } = await authorize({ redirectUri: `${wrong}?secret=planted#planted` })
    expect(status).toBe(400)
    const row = {
      requestId: headers['x-request-id'],
      at: expect.stringMatching(/Z$/),
      client,
      clientName: 'Sample',
      method: 'GET',
      route: '/authorize',
      status: 400,
      error: 'invalid_redirect_uri',
      message: "redirect_uri did not match any of the client's registered redirect_uris",
      ms: expect.any(Number),
      sent: { redirectUri: wrong, scopes: [scope] },
    }
    const registrations = { [client]: { redirectUris: [redirectUri], scopes: [scope] } }
    expect(await list()).toMatchObject({ items: [row], registrations })
    const query = { team: here.world.ids.team, requestId: row.requestId as string }
    expect(await developer.requests.get(query)).toEqual({ items: [row], registrations })
    const counts = async (filter: object) => (await list(filter)).items.length
    expect([await counts({ method: 'GET', route: '/authorize' }), await counts({ status: 400 })]).toEqual([1, 1])
    expect([await counts({ status: 403 }), await counts({ member: here.world.ids.member })]).toEqual([0, 0])
  })

  it('is listed once, with the reason that the app or the browser gets', async () => {
    const scopes = `${scope} svc.me.events:read`
    const asked = [
      ['invalid_scope', { scope: 'svc.me.events:read' }],
      ['invalid_request', { more: { code_challenge: undefined, code_challenge_method: undefined } }],
      ['unsupported_response_type', { more: { response_type: 'token' } }],
      // The page names the second of two faults.
      [
        'invalid_redirect_uri',
        { redirectUri: 'https://other.example/', more: { response_type: 'token' }, scope: scopes },
      ],
    ] as const
    for (const [error, more] of asked) {
      const { newest } = await list()
      await authorize(more)
      const { items } = await list(newest === null ? {} : { after: newest })
      expect([error, items.map((one) => one.error)]).toEqual([error, [error]])
    }
    expect((await list()).items.map(({ sent }) => sent)).toEqual([
      { redirectUri: 'https://other.example/', scopes: scopes.split(' ') },
      { redirectUri, scopes: [scope] },
      { redirectUri, scopes: [scope] },
      { redirectUri, scopes: ['svc.me.events:read'] },
    ])
  })

  it('at the token endpoint has the detail that the answer leaves out, and nothing secret that was sent', async () => {
    const planted = 'planted'.repeat(7)
    await here.exchange(client, planted, planted, 'https://other.example/')
    await here.refresh(client, planted)
    await here.token({ grant_type: planted, client_id: client })
    const { code, verifier } = await here.toCode({ client, scope })
    await here.exchange(client, code, verifier, `https://user:${planted}@app.example/other?${planted}`)
    const { items } = await list()
    expect(items.map(({ route, status, error, message }) => [route, status, error, message])).toEqual([
      ['/token', 400, 'invalid_grant', 'authorization code redirect_uri mismatch'],
      ['/token', 400, 'unsupported_grant_type', 'unsupported grant_type requested'],
      ['/token', 400, 'invalid_grant', 'refresh token not found'],
      ['/token', 400, 'invalid_grant', 'authorization code not found'],
    ])
    expect(items[0]!.sent).toEqual({ redirectUri: 'https://app.example/other', scopes: [] })
    const rows = await here.world.db.$queryRaw<{ row: string }[]>`
      SELECT f::text AS row FROM "FailedSignIn" f WHERE "clientId" = ${client}`
    expect(rows).toHaveLength(4)
    expect(rows.filter(({ row }) => row.includes('planted') || row.includes(verifier))).toEqual([])
  })

  it('of a replayed refresh token is listed', async () => {
    const { refresh_token } = await here.toTokens({ client, scope })
    expect((await here.refresh(client, refresh_token)).status).toBe(200)
    here.world.advance(61)
    expect((await here.refresh(client, refresh_token)).status).toBe(400)
    here.world.advance(-61)
    expect((await list()).items.map(({ error, route }) => [error, route])).toEqual([['invalid_grant', '/token']])
  })

  it('is not what a member denied, nor what an app has to expect, nor of an unknown or first-party client', async () => {
    const browser = here.newBrowser()
    const { url } = here.authorizeUrl({ client, scope })
    const page = await here.toConsent(browser, url, here.world.ids.member)
    const { location } = await browser.submit(page, 'consent', { decision: 'refuse' })
    expect(location!.searchParams.get('error')).toBe('access_denied')
    expect((await authorize({ more: { prompt: 'none' } })).location!.searchParams.get('error')).toBe('login_required')
    expect((await authorize({ client: 'nobody' })).status).toBe(400)
    expect((await here.refresh('nobody', 'x')).status).toBe(401)
    await here.refresh(here.world.ids.platform, 'x')
    expect((await list()).items).toEqual([])
    const clients = [client, 'nobody', here.world.ids.platform]
    expect(await here.world.db.failedSignIn.count({ where: { clientId: { in: clients } } })).toBe(0)
  })

  it.each([
    ['markup', 'https://a.example/<script>alert(1)</script>', 'https://a.example/<script>alert(1)</script>'],
    [
      'controls and directions',
      'https://a.example/\u0007\u202E\u2028\r\n',
      'https://a.example/\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD',
    ],
    ['credentials', 'https://user:password@a.example/', 'https://a.example/'],
    ['a scheme of its own', 'app:callback?code=1', 'app:callback'],
    ['no address', 'x'.repeat(10), 'x'.repeat(10)],
    ['3,000 characters', `https://a.example/${'x'.repeat(3_000)}`, `https://a.example/${'x'.repeat(282)}`],
  ])('with %s as redirect URI stores text within its bounds', async (_, sent, stored) => {
    expect((await authorize({ redirectUri: sent })).status).toBe(400)
    expect((await list()).items.map((one) => one.sent?.redirectUri)).toEqual([stored])
  })

  it('with 8 KB of redirect URI, or NUL, at the token endpoint is stored cut', async () => {
    await here.exchange(client, 'c', 'v'.repeat(43), `https://a.example/\0${'\u{1F600}'.repeat(2_000)}`)
    const { items } = await list()
    expect(items).toHaveLength(1)
    const { redirectUri: kept } = items[0]!.sent!
    expect([...kept!].length).toBe(300)
    expect(kept).toMatch(/^https:\/\/a\.example\/\uFFFD\u{1F600}+$/u)
  })

  it('with long or malformed scopes stores those that are names, up to 1,000 characters', async () => {
    await authorize({ scope: `${'s'.repeat(600)} "quoted" \u202E svc.none ${'t'.repeat(600)} svc.last` })
    expect((await list()).items.map(({ sent }) => sent?.scopes)).toEqual([['s'.repeat(600), 'svc.none']])
  })
})

describe('a flood of failed sign-ins', () => {
  const minute = Date.parse('2100-01-01T12:00:00Z')
  const failed = (count: number, at = minute, clientId = client) =>
    Array.from({ length: count }, (_, n) => ({
      clientId,
      requestId: `${n}`,
      at: at + n,
      method: 'GET',
      route: '/authorize',
      status: 400,
      error: 'invalid_scope',
      message: 'm',
      redirectUri: null,
      scopes: null,
      ms: 1,
    }))
  const count = (clientId = client) => here.world.db.failedSignIn.count({ where: { clientId } })

  it('stores five of a client and minute, over all nodes, and displaces no refusal of the APIs', async () => {
    const { db, ids, requestLog } = here.world
    const other = await register(here.world)
    for (const { clientId, at, ...request } of failed(100)) requestLog.signInFailed(clientId, at, request)
    const refused = Array.from({ length: MAX_REFUSED }, (_, n) => ({
      clientId: client,
      requestId: `${n}`,
      at: minute + n,
      method: 'GET',
      route: null,
      status: 404,
      error: 'keyUnknown',
      message: null,
      ms: 1,
      member: null,
    }))
    await requestLog.flush()
    expect(await count()).toBe(MAX_SIGN_INS)
    await write(db, { refused, answered: [], signIns: [...failed(100), ...failed(3, minute, other)], counts: [] })
    expect([await count(), await count(other)]).toEqual([MAX_SIGN_INS, 3])
    await write(db, { refused: [], answered: [], signIns: failed(2, minute + 60_000), counts: [] })
    expect(await count()).toBe(MAX_SIGN_INS + 2)
    expect(await db.refusedRequest.count({ where: { teamId: ids.team, clientId: client } })).toBe(MAX_REFUSED)
  })

  it('over HTTP stores five of a minute', async () => {
    here.world.advance(60 - (here.world.now() % 60))
    for (let n = 0; n < 2 * MAX_SIGN_INS; n++) await authorize({ redirectUri: `https://a.example/${n}` })
    await here.world.requestLog.flush()
    expect(await count()).toBe(MAX_SIGN_INS)
  })

  it('keeps the newest 200 of a client', async () => {
    const { db, ids } = here.world
    await db.failedSignIn.createMany({
      data: failed(SIGN_INS_KEPT, minute - 3_600_000).map(({ at, ...one }) => ({
        ...one,
        teamId: ids.team,
        at: new Date(at),
      })),
    })
    await write(db, { refused: [], answered: [], signIns: failed(3), counts: [] })
    expect(await count()).toBe(SIGN_INS_KEPT)
    const first = await db.failedSignIn.findFirst({ where: { clientId: client }, orderBy: { at: 'asc' } })
    expect(first?.requestId).toBe('3')
  })
})

it('failed sign-ins of another team are 404', async () => {
  await authorize({ redirectUri: 'https://other.example/' })
  const [shown] = (await list()).items
  const { core, ids } = here.world
  const scopes = new Set(['dev:read'])
  const stranger = callAs(core, { member: ids.member, organisation: '', client: ids.platform, scopes }).developer
  const { team } = ids
  for (const ask of [
    () => stranger.requests.list({ team, client }),
    () => stranger.requests.get({ team, requestId: shown!.requestId }),
  ])
    expect(await readRefusal(ask())).toMatchObject({ status: 404 })
})

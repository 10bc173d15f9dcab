import { randomBytes } from 'node:crypto'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { authWorld, issuer } from '../oauth/auth-world.ts'
import type { Browser } from '../oauth/browser.ts'
import { times } from '../support/rounds.ts'

const scope = 'svc.me.profile:read'
const REQUESTS = times(300, 200)

const service = authWorld({ trustedProxies: ['127.0.0.1'] })

let addresses = 0
const arrive = (address = `100.80.${addresses >> 8}.${addresses++ & 255}`): Browser => {
  const browser = service.newBrowser()
  browser.headers = { 'x-forwarded-for': address }
  return browser
}
/** A request of the app with these parameters; `padded` makes its query so long with one that means nothing. */
const request = (more: Record<string, string> = {}, padded = 0) => {
  const { url, verifier } = service.authorizeUrl({ client: service.client, scope, more })
  if (padded > 0)
    url.search += `&x=${randomBytes(padded)
      .toString('hex')
      .slice(0, padded - url.search.length - 2)}`
  return { url, verifier }
}
/** The stored records of the app's requests. */
const stored = () =>
  service.world.db.oauthRecord.count({ where: { payload: { path: ['params', 'client_id'], equals: service.client } } })

describe('authorization requests of strangers', () => {
  it(`leave nothing in the database: ${REQUESTS} of them, as long as allowed`, async () => {
    const before = await service.world.db.oauthRecord.count({ where: { model: 'Interaction' } })
    const left = Array.from({ length: REQUESTS }, (_, n) => n)
    const worker = async () => {
      while (left.pop() !== undefined) {
        const { url } = request({ state: randomBytes(512).toString('hex') }, 4_096)
        expect((await arrive().get(url)).status).toBe(303)
      }
    }
    await Promise.all(Array.from({ length: 10 }, worker))
    expect(await stored()).toBe(0)
    // Other tests may add their own meanwhile.
    expect((await service.world.db.oauthRecord.count({ where: { model: 'Interaction' } })) - before).toBeLessThan(
      REQUESTS / 2,
    )
  })

  it('are 300 a minute for a network; others are not affected', async () => {
    const addressAt = (n: number) => `2001:db8:7:7::${n.toString(16)}`
    const { url } = request()
    const answers = await Promise.all(Array.from({ length: 320 }, (_, n) => arrive(addressAt(n)).get(url)))
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(300)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(20)
    expect(refused[0]!.headers['retry-after']).toBe('60')
    expect(refused[0]!.text).toContain('Too many requests')
    expect((await arrive('2001:db8:7:8::1').get(url)).status).toBe(303)
  })
})

describe('an authorization request', () => {
  const signIn = async (url: URL) => {
    const { ids } = service.world
    const browser = arrive()
    const consent = await browser.submit(await browser.open(url), 'pick', { member: ids.member })
    return browser.submit(consent, 'consent', { organisation: ids.club, scope, decision: 'allow' })
  }

  it.each([
    ['may have a query of 4 KB with a state of 1 KB', () => ({ state: randomBytes(512).toString('hex') }), 4_096],
    ['may need all of its 4 KB', () => ({ login_hint: randomBytes(1_600).toString('hex'), state: '"'.repeat(100) }), 0],
    [
      'may have a state that fills its 4 KB',
      () => ({ state: 'a'.repeat(4_096 - request({ state: '' }).url.search.slice(1).length) }),
      0,
    ],
  ])('%s, which comes back', async (_, parameters, padded) => {
    const more = parameters()
    const { url } = request(more, padded)
    if (padded > 0) expect(url.search.slice(1)).toHaveLength(padded)
    const back = await signIn(url)
    expect(back.location!.searchParams.get('state')).toBe(more.state)
    expect(back.location!.searchParams.get('code')).toEqual(expect.any(String))
  })

  it('with a longer query is refused with a page', async () => {
    const page = await arrive().get(request({}, 4_097).url)
    expect([page.status, page.location]).toEqual([400, undefined])
    expect(page.text).toContain('the query is longer than 4 KB')
  })

  it('may have 100 parameters; with more it is refused before they are read', async () => {
    const answerTo = async (parameters: number) => {
      const { url } = request()
      url.search += '&x'.repeat(parameters - url.searchParams.size)
      return arrive().get(url)
    }
    expect((await answerTo(100)).status).toBe(303)
    const page = await answerTo(101)
    expect(page.status).toBe(400)
    expect(page.text).toContain('the query has more than 100 parameters')
  })

  it.each(['authorize/a', 'jwks', 'token'])('the query of %s is not read', async (endpoint) => {
    const read = vi.spyOn(URLSearchParams.prototype, 'getAll')
    onTestFinished(() => read.mockRestore())
    const method = endpoint === 'token' ? 'POST' : 'GET'
    await arrive().send(method, new URL(`${issuer}/${endpoint}?${'x&'.repeat(1_000)}`), {})
    expect(read).not.toHaveBeenCalled()
  })
})

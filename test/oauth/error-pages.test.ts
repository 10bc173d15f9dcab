import { describe, expect, it } from 'vitest'
import { messagePage } from '../../server/browser/pages/message.ts'
import { authWorld, issuer } from './auth-world.ts'

const auth = authWorld()

const connected = '<a href="/v1/oauth/connected">Connected apps</a>'

describe('an error page', () => {
  it('for a wrong request of an app names the mistake, the request, and the way back to the app', async () => {
    const { db, ids } = auth.world
    await db.app.update({ where: { id: ids.app }, data: { homepage: 'https://app.example/' }, select: { id: true } })
    const { url } = auth.authorizeUrl({
      client: auth.client,
      scope: 'svc.me.profile:read',
      redirectUri: 'https://evil.example/',
    })
    const { status, text } = await auth.newBrowser().get(url, { 'x-request-id': 'my-request' })
    expect(status).toBe(400)
    expect(text).toContain('did not match any of the client&#39;s registered redirect_uris')
    expect(text).toContain('<code>my-request</code>')
    expect(text).toContain('<a href="https://app.example/" rel="noreferrer">Back to <bdi>App</bdi> (app.example)</a>')
    expect(text).toContain(connected)
    expect(text).not.toContain('evil.example')
  })

  it.each([
    ['expired', 400, '/interaction/old'],
    ['of an unknown app', 400, '/authorize?client_id=nobody'],
    ['with a query that is too long', 400, `/authorize?state=${'x'.repeat(5_000)}`],
  ])('%s has status %i, the request id and a way on', async (_why, expected, path) => {
    const { status, text } = await auth.newBrowser().get(`${issuer}${path}`, { 'x-request-id': 'my-request' })
    expect(status).toBe(expected)
    expect(text).toContain('<code>my-request</code>')
    expect(text).toContain(connected)
  })

  it('of a form from another site has them too', async () => {
    const headers = { origin: 'https://evil.example', 'x-request-id': 'my-request' }
    const { status, text } = await auth.newBrowser().post(`${issuer}/connected/sign-out`, {}, headers)
    expect(status).toBe(403)
    expect(text).toContain('<code>my-request</code>')
    expect(text).toContain(connected)
  })

  it('offers the same address again where it may work later', () => {
    const page = (again: boolean) => messagePage({ language: 'en', message: 'unavailable', requestId: 'one', again })
    expect(page(true)).toContain('<a href="">Try again</a>')
    expect(page(false)).not.toContain('href=""')
  })
})

describe('the page after signing out', () => {
  it('has a way back in, and no request id', async () => {
    const browser = auth.newBrowser()
    const list = await browser.submit(await browser.open(`${issuer}/connected`), 'pick', {
      member: auth.world.ids.member,
    })
    const { text } = await browser.submit(list, 'sign-out', {})
    expect(text).toContain('<a href="/v1/oauth/connected">Sign in again</a>')
    expect(text).not.toContain('<code>')
  })
})

import { describe, expect, it } from 'vitest'
import { authWorld } from './auth-world.ts'
import { api } from './openid-world.ts'

const auth = authWorld()

const MAX = 4_096
const urlWith = (state: string) => auth.authorizeUrl({ client: auth.client, scope: api, more: { state } }).url
/** A request whose query has this length. */
const urlOf = (length: number, fill: string) => {
  const without = urlWith('').search.length - 1
  return urlWith(
    fill.repeat(Math.floor((length - without) / new URLSearchParams({ '': fill }).toString().slice(1).length)),
  )
}

describe('a state', () => {
  it.each([
    ['letters', 's'],
    ['tildes, each of which is written as three characters', '~'],
    ['umlauts', 'ü'],
    ['spaces', ' '],
  ])('of %s that fill a query of 4 KB returns with the code, after a sign-in and a consent', async (_, fill) => {
    const url = urlOf(MAX, fill)
    const state = url.searchParams.get('state')!
    expect(state.length).toBeGreaterThan(500)
    const { member, club } = auth.world.ids
    const browser = auth.newBrowser()
    const page = await auth.toConsent(browser, url, member)
    const back = await browser.submit(page, 'consent', { organisation: club, scope: [api], decision: 'allow' })
    expect(back.location!.searchParams.get('code')).toEqual(expect.any(String))
    expect(back.location!.searchParams.get('state')).toBe(state)
  })

  it('beyond that is refused, also where only the written form is longer', async () => {
    for (const url of [urlOf(MAX + 1, 's'), `${urlWith('')}`.replace('state=', `state=${'~'.repeat(2_000)}`)]) {
      const page = await auth.newBrowser().open(url)
      expect([page.status, page.text]).toEqual([400, expect.stringContaining('the query is longer than 4 KB')])
    }
  })
})

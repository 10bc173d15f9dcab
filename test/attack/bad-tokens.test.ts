import { generateKeyPair } from 'jose'
import { describe, expect, it } from 'vitest'
import { MAX_FAILURES } from '../../server/http/failed-authentications.ts'
import { useWorld } from '../support/started.ts'

const world = useWorld({ trustedProxies: ['127.0.0.1'] })

const tooMany = expect.stringMatching(/^Too many invalid tokens were sent from this address; try again in \d+ s\.$/)
const from = (address: string) => ({ 'x-forwarded-for': address })
const call = (address: string, token: string | null) =>
  world.call('GET', '/me/profile', { headers: from(address), token })
const statuses = async (calls: ReturnType<typeof call>[]) => {
  const counts: Record<number, number> = {}
  for (const { status } of await Promise.all(calls)) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Tokens that are right but for their signature. */
async function forgeries(count: number) {
  const { privateKey } = await generateKeyPair('ES256')
  return Promise.all(Array.from({ length: count }, () => world.token({}, privateKey)))
}

describe('a flood of forged tokens', () => {
  it('is 429 beyond the limit of its address, and good tokens from there pass', async () => {
    const earlier = await world.token()
    expect((await call('192.0.2.1', earlier)).status).toBe(200)
    const forged = await forgeries(MAX_FAILURES + 200)
    const flood = statuses(forged.map((token) => call('192.0.2.1', token)))
    // Every other one is new: its signature is verified as those of the forged are.
    const fresh = async () => call('192.0.2.1', await world.token())
    const good = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? call('192.0.2.1', earlier) : fresh())))
    expect(good.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(await flood).toEqual({ 401: MAX_FAILURES, 429: 200 })

    const { status, headers, body } = await call('192.0.2.1', forged[0]!)
    expect([status, body.error.code, body.error.message]).toEqual([429, 'rate_limited', tooMany])
    expect(headers['retry-after']).toMatch(/^([1-9]|[1-5]\d|60)$/)
    expect(headers.ratelimit).toBe(undefined)
    expect((await fresh()).status).toBe(200)
  })

  it('from one /64 of IPv6 is one flood', async () => {
    const forged = await forgeries(MAX_FAILURES + 10)
    const calls = forged.map((token, i) => call(`2001:db8:0:1::${(i + 1).toString(16)}`, token))
    expect(await statuses(calls)).toEqual({ 401: MAX_FAILURES, 429: 10 })
    expect((await call('2001:db8:0:2::1', forged[0]!)).status).toBe(401)
  })

  it('over tRPC counts as well, in its own shape', async () => {
    const forged = await forgeries(MAX_FAILURES + 10)
    for (const token of forged.slice(0, MAX_FAILURES)) {
      const headers = { ...from('192.0.2.3'), authorization: `Bearer ${token}` }
      expect((await world.internal('GET', '/trpc/root', { headers })).status).toBe(401)
    }
    const headers = { ...from('192.0.2.3'), authorization: `Bearer ${forged.at(-1)}` }
    const { status, headers: own, body } = await world.internal('GET', '/trpc/root', { headers })
    expect([status, body.error.message]).toEqual([429, tooMany])
    expect(own['retry-after']).toMatch(/^\d+$/)
  })

  it('does not turn an expired or a missing token into a 429, and these do not count', async () => {
    const expired = await world.token({ exp: world.now() - 1 })
    const calls = Array.from({ length: MAX_FAILURES + 10 }, (_, i) => call('192.0.2.4', i % 2 ? expired : null))
    expect(await statuses(calls)).toEqual({ 401: MAX_FAILURES + 10 })
    const forged = await forgeries(MAX_FAILURES + 1)
    expect(await statuses(forged.map((token) => call('192.0.2.4', token)))).toEqual({ 401: MAX_FAILURES, 429: 1 })
    expect((await call('192.0.2.4', expired)).body.error.message).toBe('This token has expired.')
    expect((await call('192.0.2.4', null)).status).toBe(401)
  })
})

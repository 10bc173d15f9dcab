import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { times } from '../support/rounds.ts'
import { externalWorld } from './external-world.ts'
import { loopbackIssuer, status } from './loopback-issuer.ts'

const quick = { reloadMs: 50, retryMs: 50 }

/** Waits until the issuer's newest key is in the database. */
const kept = ({ world, issuer }: Awaited<ReturnType<typeof externalWorld>>) =>
  expect.poll(() => keptWith(world, issuer.keys().at(-1)!.kid)).toBe(1)

const keptWith = ({ db }: Awaited<ReturnType<typeof externalWorld>>['world'], kid: string) =>
  db.externalKeySet.count({ where: { keySet: { path: ['keys'], array_contains: [{ kid }] } } })

describe('an outage of the issuer', () => {
  it('of ten minutes fails no token with a known key, while the background retries', async () => {
    const lines: string[] = []
    const onLog = (line: string) => lines.push(line)
    const { issuer, world, ask, token } = await externalWorld({ intervals: quick, onLog })
    await issuer.down()
    const statuses: number[] = []
    const count = times(200, 40)
    for (let one = 0; one < count; one++) {
      statuses.push((await ask(await token())).status)
      world.advance(600 / count)
    }
    expect(statuses.filter((status) => status !== 200)).toEqual([])
    // Logged once, although every retry failed.
    await expect.poll(() => lines.filter((line) => line.includes('cannot be read')).length).toBe(1)
    world.advance(3600)
    await expect.poll(() => lines.filter((line) => line.includes('"level":50')).length).toBe(1)
    await issuer.up()
    await expect.poll(() => lines.filter((line) => line.includes('can be read again')).length).toBe(1)
    expect(lines.join()).not.toMatch(/eyJ/)
  })

  it('at the start: every token returns 503 until the keys can be read', async () => {
    const issuer = await loopbackIssuer()
    issuer.answer(status(502))
    const { world, ask, ready, token } = await externalWorld({ issuer, intervals: { retryMs: 3_000 } })
    expect(ready()).toBe(false)
    for (const given of [await token(), await token({ exp: world.now() - 9 }), await token({ aud: 'x' })]) {
      expect(await ask(given)).toMatchObject({ status: 503, headers: { 'retry-after': '2' } })
    }
    expect(await ask('no.token.atall')).toMatchObject({ status: 401 })
    issuer.answer(null)
    await expect.poll(ready).toBe(true)
    expect(await ask()).toMatchObject({ status: 200 })
    expect(await ask(await token({ exp: world.now() - 9 }))).toMatchObject({ status: 401 })
  })

  it('at a restart: every node uses the cached keys', async () => {
    const first = await externalWorld()
    const { issuer } = first
    const [old] = issuer.keys()
    await kept(first)
    await issuer.addKey()
    expect(await first.ask()).toMatchObject({ status: 200 })
    await kept(first)
    const known = issuer.keys().slice()
    await issuer.addKey()
    await issuer.down()

    const second = await externalWorld({ issuer })
    expect(second.ready()).toBe(true)
    for (const key of known) expect(await second.ask(await second.token({}, {}, key))).toMatchObject({ status: 200 })
    expect(await second.ask()).toMatchObject({ status: 503 })
    const forged = await second.token({ aud: 'elsewhere' }, {}, old)
    expect(await second.ask(forged)).toMatchObject({ status: 401 })

    const elsewhere = await externalWorld({ issuer, settings: { jwksUrl: `${issuer.issuer}/other` } })
    expect(elsewhere.ready()).toBe(false)
    expect(await elsewhere.ask(await elsewhere.token({}, {}, old))).toMatchObject({ status: 503 })
  })

  it('leaves the cached keys unchanged', async () => {
    const world = await externalWorld({ intervals: quick })
    const { issuer } = world
    await kept(world)
    const { kid } = issuer.keys()[0]!
    issuer.withdraw(kid)
    const asked = issuer.requests.length
    await expect.poll(() => issuer.requests.length).toBeGreaterThan(asked + 6)
    expect(await keptWith(world.world, kid)).toBe(1)
  })
})

describe('the background', () => {
  it('reads the keys repeatedly, until the service ends', async () => {
    const ended = await externalWorld({ intervals: quick })
    const other = await externalWorld({ intervals: quick })
    const { requests } = ended.issuer
    await expect.poll(() => requests.length).toBeGreaterThan(10)
    const held: ServerResponse[] = []
    const jwks = new URL(ended.issuer.jwksUrl).pathname
    ended.issuer.answer((response) => void held.push(response), jwks)
    await expect.poll(() => held.length).toBe(1)
    ended.stop()
    ended.issuer.answer(null, jwks)
    held[0]!.destroy()
    const asked = [requests.length, other.issuer.requests.length] as const
    await expect.poll(() => other.issuer.requests.length).toBeGreaterThan(asked[1] + 20)
    expect(requests.length).toBe(asked[0])
  })
})

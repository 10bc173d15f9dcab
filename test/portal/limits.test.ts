import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { memoryLimits } from '../../server/limits/memory.ts'
import { pgClient } from '../support/pg-client.ts'
import { encodePng, makePixels } from '../support/pictures.ts'
import { platformClaims } from '../support/platform.ts'
import type { PortalWorld } from './portal-world.ts'
import { portal, startPortal } from './portal-world.ts'

let team: PortalWorld
let clockMs = 0
/** Small ones: a page of people makes two calls, a refused logo seven. */
const points: Record<string, number> = { 'developer-person': 7, 'developer-team': 9, 'developer-picture': 1 }
beforeAll(async () => {
  const limits = memoryLimits(() => clockMs)
  const open: typeof limits.open = (name, all, seconds) => limits.open(name, points[name] ?? all, seconds)
  team = await startPortal({ limits: { ...limits, open }, peopleWaitMs: 50 })
})
afterAll(() => team.world.close())

const nextMinute = () => {
  clockMs += 60_000
}
const requestStatuses = async (browser: PortalWorld['asOwner'], address: string, times: number) => {
  const statuses: number[] = []
  for (let time = 0; time < times; time++) statuses.push((await browser.get(address)).status)
  return statuses
}
const trpc = async (member: string, name: string) =>
  team.world.internal('GET', `/trpc/${name}`, {
    headers: { authorization: `Bearer ${await team.world.token({ ...platformClaims(team.world), sub: member })}` },
  })

describe('beyond the calls of a minute', () => {
  it('a person gets a page that says so, and goes on after it', async () => {
    nextMinute()
    const browser = await team.signIn(team.stranger)
    nextMinute()
    const own = `${portal}/teams/${team.strangers}/people`
    expect(await requestStatuses(browser, own, 3)).toEqual([200, 200, 200])
    clockMs += 1_000
    const refused = await browser.get(own)
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '59'])
    expect(refused.text).toContain('Too many requests')
    expect((await team.asOwner.get(`${team.own}/people`)).status).toBe(200)
    nextMinute()
    expect((await browser.get(own)).status).toBe(200)
  })

  it('a team is refused whoever asks, and not because of a stranger', async () => {
    nextMinute()
    expect(await requestStatuses(team.asStranger, `${team.own}/people`, 6)).toEqual(Array(6).fill(404))
    expect(await requestStatuses(team.asOwner, `${team.own}/people`, 3)).toEqual([200, 200, 200])
    expect(await requestStatuses(team.asColleague, `${team.own}/people`, 2)).toEqual([200, 429])
  })

  it('over tRPC a person gets 429 for procedures of developers alone', async () => {
    nextMinute()
    const statuses: number[] = []
    for (let time = 0; time < 7; time++) statuses.push((await trpc(team.stranger, 'developer.teams.list')).status)
    expect(statuses).toEqual(Array(7).fill(200))
    const refused = await trpc(team.stranger, 'developer.teams.list')
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60'])
    expect(refused.body.error).toMatchObject({
      message: 'Too many requests were made by this person or team; try again in 60 s.',
      data: { error: 'rate_limited' },
    })
    expect((await trpc(team.stranger, 'directory.people.list?input=%7B%22limit%22%3A1%7D')).status).toBe(200)
    expect((await trpc(team.owner, 'developer.teams.list')).status).toBe(200)
  })
})

it('beyond the logos of a minute a person and a team change none', async () => {
  const { db, ids } = team.world
  const [{ version }, png] = [await db.app.findUniqueOrThrow({ where: { id: ids.app } }), encodePng(makePixels(16))]
  const upload = async (browser: PortalWorld['asOwner'], bytes: Buffer) => {
    const form = new FormData()
    form.set('version', String(version))
    form.set('picture', new Blob([new Uint8Array(bytes)]), 'logo.png')
    return browser.upload(`${team.app}/settings/logo`, form)
  }
  nextMinute()
  // A refused picture was decoded as well.
  expect((await upload(team.asOwner, png.subarray(0, -30))).status).toBe(400)
  const before = await team.stored()
  for (const browser of [team.asOwner, team.asColleague]) {
    clockMs += 1_000
    const refused = await upload(browser, png)
    expect(refused.status).toBe(429)
    expect(refused.text).toMatch(/Too many (requests|logos)/)
  }
  expect(await team.stored()).toEqual(before)
  nextMinute()
  expect((await upload(team.asColleague, png)).location?.search).toMatch(/^\?done=/)
})

it('a person has 4 requests at once: others are 503 after a short wait, and a colleague is served', async () => {
  nextMinute()
  const second = await team.signIn(team.owner)
  nextMinute()
  const holder = pgClient(inject('databaseUrl'))
  await holder.connect()
  await holder.query('BEGIN')
  await holder.query('SELECT FROM "Team" WHERE id = $1 FOR UPDATE', [team.world.ids.team])
  const browsers = [second, team.asOwner]
  const invite = (at: number) =>
    browsers[at % 2]!.post(`${team.own}/people/invite`, { email: `at-once-${at}@example.org`, role: 'developer' })
  const sent = [0, 1, 2, 3, 4].map(invite)
  const refused = await Promise.race(sent)
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2'])
  expect(refused.text).toContain('Not available at the moment')
  expect((await team.asColleague.get(`${team.own}/people`)).status).toBe(200)
  await holder.end()
  const statuses = (await Promise.all(sent)).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([303, 303, 303, 303, 503])
})

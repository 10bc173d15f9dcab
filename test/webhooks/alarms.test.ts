import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { raiseAlarms } from '../../server/webhooks/alarms.ts'
import { times } from '../support/rounds.ts'
import { id } from '../support/tenant.ts'
import type { QueueWorld } from './queue-world.ts'
import { startQueue } from './queue-world.ts'

const HOUR_MS = 3_600_000
const NOW = Date.parse('2026-11-25T12:00:00Z')
const ago = (hours: number, ms = 0) => new Date(NOW - hours * HOUR_MS + ms)

let here: QueueWorld
let person: string
beforeEach(async () => {
  here = await startQueue()
  const { db, app } = here
  const { teamId } = await db.app.findUniqueOrThrow({ where: { id: app } })
  person = id('person')
  await db.person.create({ data: { id: person, firstName: 'A', lastName: 'B', email: 'a@example.org' } })
  await db.teamMember.create({ data: { teamId, personId: person, role: 'owner' } })
})

/** A delivery that was published some hours ago and has been attempted since. */
async function attempted(subscription: string, hours: number, more: object = {}) {
  const [delivery] = await here.publish(subscription, { at: ago(hours).getTime() })
  await here.db.delivery.update({
    where: { id: delivery! },
    data: { attempts: 7, lastAttemptAt: ago(hours / 3), nextAttemptAt: ago(-1), lastStatus: 500, ...more },
  })
}
const delivered = (finishedAt: Date) => ({ state: 'delivered' as const, finishedAt, nextAttemptAt: null })
const mails = async () =>
  (await here.db.mail.findMany({ orderBy: { kind: 'asc' } })).map(({ kind, personId, about }) => [
    kind,
    personId,
    about,
  ])
async function testSubscription() {
  const data = { id: `test:${here.app}`, appId: here.app, subscriber: here.app, test: true }
  return (await here.db.subscription.create({ data })).id
}
const readAlarm = async (subscription: string) =>
  (await here.db.subscription.findUniqueOrThrow({ where: { id: subscription } })).alarm

describe('a webhook that fails for 24 hours', () => {
  it('is mailed once to the people of its team, with the number of subscriptions', async () => {
    const { db, subscribe, app } = here
    const [one, other, lately] = await Promise.all([1, 2, 3].map(() => subscribe()))
    await attempted(one!, 24)
    await attempted(one!, 25)
    await attempted(other!, 26)
    await attempted(lately!, 23)
    expect(await raiseAlarms(db, NOW)).toBe(2)
    expect(await mails()).toEqual([['webhookFailing', person, { name: 'App', app, count: 2 }]])
    expect(await raiseAlarms(db, NOW + HOUR_MS / 2)).toBe(0)
    expect([await readAlarm(one!), await readAlarm(other!), await readAlarm(lately!)]).toEqual([
      'failing',
      'failing',
      null,
    ])
  })

  it('is not one where an event arrived meanwhile, or where only a test failed', async () => {
    const { db, subscribe } = here
    const partly = await subscribe()
    const test = await testSubscription()
    await attempted(partly, 25)
    await attempted(partly, 30, delivered(ago(24, 1)))
    await attempted(test, 25)
    expect([await raiseAlarms(db, NOW), await mails()]).toEqual([0, []])
  })

  it('is mailed again when it fails again after an event has arrived', async () => {
    const { db, subscribe } = here
    const subscription = await subscribe()
    await attempted(subscription, 25)
    await attempted(subscription, 48, delivered(ago(30)))
    expect([await raiseAlarms(db, NOW), await raiseAlarms(db, NOW)]).toEqual([1, 0])
    await attempted(subscription, 1, delivered(ago(0)))
    expect([await raiseAlarms(db, NOW + 1), await readAlarm(subscription)]).toEqual([0, null])
    expect(await raiseAlarms(db, NOW + 24 * HOUR_MS)).toBe(1)
    expect(await mails()).toHaveLength(2)
  })
})

describe('an address of the team', () => {
  const become = (id: string, more: object = {}) =>
    here.db.subscription.update({ where: { id }, data: { address: true, ...more } })

  it('that fails is counted as a subscription, and the mail names it without its query, at most 200 characters', async () => {
    const { db, subscribe, app } = here
    const url = `https://hooks.example/${'x'.repeat(178)}`
    const [address, paused] = [await subscribe(`${url}left?key=4711`), await subscribe()]
    await become(address)
    await become(paused, { paused: true, endedAt: ago(1), alarm: 'ended' })
    await attempted(await subscribe(), 26)
    await attempted(address, 25)
    expect(await raiseAlarms(db, NOW)).toBe(2)
    const about = { name: 'App', app, count: 2, addresses: [url] }
    expect(await mails()).toEqual([['webhookFailing', person, about]])
  })

  it('that its receiver ends is mailed, one of the sandbox is not', async () => {
    const { db, subscribe, app } = here
    const [address, sandbox] = [await subscribe(), await subscribe()]
    await become(address, { endedAt: ago(1) })
    await become(sandbox, { endedAt: ago(1), test: true })
    expect(await raiseAlarms(db, NOW)).toBe(1)
    expect(await mails()).toMatchObject([
      ['webhookEnded', person, { app, count: 1, addresses: ['https://127.0.0.1/'] }],
    ])
  })
})

describe('24 hours of a failing webhook', () => {
  /** A delivery that was published 100 hours ago, whose attempts began at these hours; `before` are of an earlier round. */
  async function delivery(subscription: string, attempts: number[], before: number[] = []) {
    const [deliveryId] = await here.publish(subscription, { at: ago(100).getTime() })
    const all = [...before, ...attempts].map((hours, i) => ({ hours, number: i + 1 }))
    await here.db.deliveryAttempt.createMany({
      data: all.map(({ hours, number }) => ({
        deliveryId: deliveryId!,
        number,
        at: ago(hours),
        durationMs: 1,
        error: 'e',
      })),
    })
    const last = { lastAttemptAt: ago(attempts.at(-1)!), nextAttemptAt: ago(-1) }
    await here.db.delivery.update({ where: { id: deliveryId! }, data: { attempts: attempts.length, ...last } })
  }

  it.each<[string, attempts: number[], before: number[], alarms: number]>([
    ['begin with the first attempt after a worker stood still', [0], [], 0],
    ['begin with the first of several attempts', [23, 22, 1], [], 0],
    ['have passed a day after the first attempt', [24, 23, 6], [], 1],
    ['begin again with the retry of a delivery that had failed', [0], [60, 50, 40], 0],
    ['begin with the first attempt of that retry', [24, 1], [60, 50, 40], 1],
    ['do not begin before that retry, after several attempts', [3, 2, 1], [60, 50, 40], 0],
  ])('%s', async (_, attempts, before, alarms) => {
    const subscription = await here.subscribe()
    await delivery(subscription, attempts, before)
    expect(await raiseAlarms(here.db, NOW)).toBe(alarms)
    expect(await mails()).toHaveLength(alarms)
  })

  it('are counted from the first attempt of the round, whatever was attempted when', async () => {
    const descending = fc
      .array(fc.integer({ min: 0, max: 90 }), { minLength: 1, maxLength: 12 })
      .map((hours) => hours.sort((one, other) => other - one))
    await fc.assert(
      fc.asyncProperty(descending, fc.nat(11), async (hours, cut) => {
        const from = Math.min(cut, hours.length - 1)
        await delivery(await here.subscribe(), hours.slice(from), hours.slice(0, from))
        expect(await raiseAlarms(here.db, NOW)).toBe(hours[from]! >= 24 ? 1 : 0)
      }),
      { numRuns: times(300, 40) },
    )
  })
})

describe('a webhook that its receiver has switched off', () => {
  it('is mailed once for all subscriptions of its app that ended', async () => {
    const { db, subscribe, app } = here
    const [one, other, long] = await Promise.all([1, 2, 3].map(() => subscribe()))
    const end = (id: string, endedAt: Date, more: object = {}) =>
      db.subscription.update({ where: { id }, data: { endedAt, ...more } })
    await end(one!, ago(1))
    await end(other!, ago(2), { alarm: 'failing' })
    await end(long!, ago(24))
    await attempted(one!, 25)
    await end(await testSubscription(), ago(1))
    expect([await raiseAlarms(db, NOW), await raiseAlarms(db, NOW)]).toEqual([2, 0])
    expect(await mails()).toEqual([['webhookEnded', person, { name: 'App', app, count: 2 }]])
  })
})

import { beforeEach, describe, expect, it } from 'vitest'
import { columnsOfSubscription, noFormer, signingSecrets } from '../../routers/webhooks/stored-secrets.ts'
import { holdApp, meanwhile } from '../support/meanwhile.ts'
import { asPlatform } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import { mintTeam } from './team.ts'

const url = 'https://hooks.example.org/in'
const HOUR = 3_600

const world = useWorld()
let mine: Awaited<ReturnType<typeof mintTeam>>
beforeEach(async () => {
  mine = await mintTeam(world)
  await set('first')
})

const platform = () => asPlatform(world)
const set = (secret: string | null) => mine.api.webhook.set({ app: mine.app, url, secret })
const untilShown = async () => (await mine.api.webhook.get({ app: mine.app })).formerSecretUntil
const end = () => mine.api.webhook.endFormerSecret({ app: mine.app })
const stored = () => world.db.app.findUniqueOrThrow({ where: { id: mine.app } })
const rows = () => world.db.subscription.findMany({ where: { appId: mine.app }, orderBy: { createdAt: 'asc' } })
const audit = () => world.db.auditEntry.findMany({ where: { teamId: mine.team }, orderBy: { id: 'desc' } })
const signing = async () =>
  (await rows()).map((row) => signingSecrets(world.core.cipher, columnsOfSubscription(row.id), row, world.core.now()))

describe('developer.webhook.get', () => {
  it('shows until when the former secret signs', async () => {
    expect(await untilShown()).toBeNull()
    const before = world.now()
    await set('second')
    const until = (await untilShown())!
    expect(until).toBeGreaterThanOrEqual(before + 24 * HOUR)
    expect(until).toBeLessThanOrEqual(world.now() + 24 * HOUR)
    expect(until).toBe(Math.floor((await stored()).formerUntil!.getTime() / 1_000))
    await set('second')
    expect(await untilShown()).toBe(until)
    world.advance(24 * HOUR)
    expect(await untilShown()).toBeNull()
  })

  it('shows it also when a subscription alone has one, and after the webhook was removed', async () => {
    const { id } = await platform().subscriptions.create({ app: mine.app, subscriber: 's' })
    await set('second')
    world.advance(25 * HOUR)
    await platform().subscriptions.update({ id })
    const [row] = await rows()
    const until = Math.floor(row!.formerUntil!.getTime() / 1_000)
    expect(await untilShown()).toBe(until)
    await mine.api.webhook.remove({ app: mine.app })
    expect(await untilShown()).toBe(until)
  })
})

describe('developer.webhook.set', () => {
  it.each([
    ['its secret is removed', () => set(null)],
    ['it is removed', () => mine.api.webhook.remove({ app: mine.app })],
  ])("ends the app's former secret when %s", async (_, clear) => {
    await set('second')
    await clear()
    expect(await stored()).toMatchObject({ webhookSecret: null, ...noFormer })
    await set('third')
    expect(await stored()).toMatchObject(noFormer)
  })
})

describe('a test event', () => {
  it('is signed with both secrets as of the test, and with neither once they are removed', async () => {
    const { app, api } = mine
    await set('second')
    await api.webhook.test({ app })
    expect(await signing()).toEqual([{ secret: 'second', former: 'first' }])
    expect((await rows())[0]!.formerUntil).toEqual((await stored()).formerUntil)
    await set(null)
    await api.webhook.test({ app })
    expect(await rows()).toMatchObject([{ secret: null, ...noFormer }])
  })
})

describe('developer.webhook.endFormerSecret', () => {
  it('ends the former secrets of the app and of its subscriptions, and no others', async () => {
    const { app } = mine
    const old = await platform().subscriptions.create({ app, subscriber: 'old' })
    await set('second')
    await platform().subscriptions.create({ app, subscriber: 'new' })
    await platform().subscriptions.update({ id: old.id })
    await mine.api.webhook.test({ app })
    expect(await signing()).toEqual(Array(3).fill({ secret: 'second', former: 'first' }))
    const neighbour = await mintTeam(world)
    for (const secret of ['first', 'second']) await neighbour.api.webhook.set({ app: neighbour.app, url, secret })
    const { formerUntil } = await stored()

    expect(await end()).toEqual({ app })
    expect(await signing()).toEqual(Array(3).fill({ secret: 'second', former: null }))
    expect(await rows()).toMatchObject(Array(3).fill(noFormer))
    expect(await stored()).toMatchObject(noFormer)
    expect(await untilShown()).toBeNull()
    expect((await neighbour.api.webhook.get({ app: neighbour.app })).formerSecretUntil).toEqual(expect.any(Number))
    const [entry] = await audit()
    expect(entry).toMatchObject({
      personId: mine.person,
      action: 'webhook.endFormerSecret',
      target: app,
      before: { formerUntil: expect.any(String) },
      after: { formerUntil: null },
    })
    const { formerUntil: noted } = entry!.before as { formerUntil: string }
    expect(Date.parse(noted)).toBeGreaterThanOrEqual(formerUntil!.getTime())
    expect(Object.keys({ ...(entry!.before as object), ...(entry!.after as object) })).toEqual(['formerUntil'])
  })

  it('changes nothing and leaves no audit entry when none signs', async () => {
    const before = await audit()
    await end()
    await set('second')
    world.advance(24 * HOUR)
    await end()
    expect(await audit()).toHaveLength(before.length + 1)
  })

  it('leaves none to a subscription that is created meanwhile', async () => {
    await set('second')
    const made = meanwhile(
      world.db,
      async (tx) => {
        await tx.$queryRaw`SELECT FROM "App" WHERE id = ${mine.app} FOR NO KEY UPDATE`
        await tx.app.update({ where: { id: mine.app }, data: noFormer })
      },
      () => platform().subscriptions.create({ app: mine.app, subscriber: 's' }),
    )
    await made
    expect(await signing()).toEqual([{ secret: 'second', former: null }])
  })

  it('ends that of a subscription which is updated meanwhile', async () => {
    const { id } = await platform().subscriptions.create({ app: mine.app, subscriber: 's' })
    await set('second')
    const ended = meanwhile(
      world.db,
      async (tx) => {
        await holdApp(tx, mine.app)
        const [row] = await rows()
        const { secret, formerSecret } = columnsOfSubscription(id)
        const data = {
          secret: world.core.cipher.encrypt('second', secret),
          formerUntil: new Date(world.core.now() + HOUR * 1_000),
          formerSecret: world.core.cipher.encrypt('first', formerSecret),
        }
        await tx.subscription.update({ where: { id: row!.id }, data })
      },
      end,
    )
    await ended
    expect(await signing()).toEqual([{ secret: 'second', former: null }])
  })
})

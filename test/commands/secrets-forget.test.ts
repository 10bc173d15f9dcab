import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { associatedData } from '../../routers/kernel/cipher.ts'
import { makeKey } from '../../server/oauth/keys/signing-key-store.ts'
import { deleteUndecryptable } from '../../server/secrets/delete-undecryptable.ts'
import { checkSecretsKey } from '../../server/secrets/keys.ts'
import { connect, counts, everything, someoneWaits } from '../process/secrets-database.ts'
import {
  addFormerSecrets,
  addSecrets,
  createSealer,
  newKey,
  parseCounts,
  startTenant,
} from '../process/secrets-tenant.ts'
import { failed, run } from './run.ts'

describe('secrets forget', () => {
  it('deletes the values that no key decrypts with their addresses, fails their deliveries, and keeps the rest', async () => {
    const { db, apps, env } = await startTenant(4)
    const [kept, gone, plain] = apps as [string, string, string, string]
    const [b, lost] = [newKey(), newKey()]
    await addSecrets(db, b, [kept])
    await addSecrets(db, lost, [gone])
    await db.app.update({ where: { id: plain }, data: { webhookUrl: 'https://example.org/plain' } })
    await db.subscription.create({ data: { id: 'plain', appId: plain, subscriber: 's', url: 'https://example.org' } })
    const signing = [await makeKey(createSealer(b), new Date()), await makeKey(createSealer(lost), new Date())]
    await db.signingKey.createMany({ data: signing })
    const rsa = [
      await makeKey(createSealer(b), new Date(), 'RS256'),
      await makeKey(createSealer(lost), new Date(), 'RS256'),
    ]
    await db.rsaSigningKey.createMany({ data: rsa })
    const cards = [
      await makeKey(createSealer(b), new Date(), 'card'),
      await makeKey(createSealer(lost), new Date(), 'card'),
    ]
    await db.cardKey.createMany({ data: cards })
    await checkSecretsKey(db, createSealer(lost, b))
    const deliveries = await addDeliveries(db, [kept, gone])
    const before = await everything(db)

    await expect(checkSecretsKey(db, createSealer(b))).rejects.toThrow()
    expect(await run(['secrets', 'forget'], env(b))).toEqual(
      failed('Nothing was removed: without a terminal for the confirmation, --yes is required.\n'),
    )
    expect(await run(['secrets', 'forget'], env(b), { typed: 'yes\n' })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/\nType forget to continue: $/),
      stderr: 'Nothing was removed.\n',
    })
    expect(await everything(db)).toEqual(before)

    const forgot = await run(['secrets', 'forget', '--yes'], env(b))
    expect(forgot).toMatchObject({ code: 0, stderr: '' })
    expect(parseCounts(forgot.stdout)).toEqual({
      ...counts([1, 0, 1], [1, 0, 1], [1, 0, 1], [0, 0, 1]),
      'RsaSigningKey.ciphertext': [1, 0, 1],
      'CardKey.ciphertext': [1, 0, 1],
    })
    expect(forgot.stdout).toMatch(/Removed: templates 1, subscriptions 1, former secrets 0, signing keys 3\n$/)

    const after = await everything(db)
    const without = { webhookUrl: null, webhookSecret: null, secretSetAt: null }
    expect(after.apps).toEqual(before.apps.map((app) => (app.id === gone ? { ...app, ...without } : app)))
    const ended = { url: null, secret: null, endedAt: expect.any(Date) }
    expect(after.subscriptions).toEqual(
      before.subscriptions.map((one) => (one.appId === gone ? { ...one, ...ended } : one)),
    )
    expect(after.keys.map(({ kid }) => kid)).toEqual([signing[0]!.kid])
    expect((await db.rsaSigningKey.findMany()).map(({ kid }) => kid)).toEqual([rsa[0]!.kid])
    expect((await db.cardKey.findMany()).map(({ kid }) => kid)).toEqual([cards[0]!.kid])
    const failedDelivery = {
      state: 'failed',
      nextAttemptAt: null,
      lease: null,
      leasedUntil: null,
      lastError: 'the secret of the subscription was lost',
      finishedAt: expect.any(Date),
    }
    const lostOnes = new Set(deliveries.filter(({ appId, state }) => appId === gone && state === 'pending').map(readId))
    expect(lostOnes.size).toBe(2)
    expect(after.deliveries).toEqual(
      before.deliveries.map((one) => (lostOnes.has(one.id) ? { ...one, ...failedDelivery } : one)),
    )

    const again = await run(['secrets', 'forget', '--yes'], env(b))
    expect(again.stdout).toMatch(/\nThe keys decrypt everything: nothing to remove\.\n$/)
    expect(await everything(db)).toEqual(after)
    await checkSecretsKey(db, createSealer(b))
  })
})

describe('deleting undecryptable values', () => {
  it('clears former secrets alone where the present ones can be decrypted', async () => {
    const { db, apps } = await startTenant(3)
    const [kept, lost, gone] = apps as [string, string, string]
    const [b, other] = [newKey(), newKey()]
    await addSecrets(db, b, [kept, lost])
    await addSecrets(db, other, [gone])
    await addFormerSecrets(db, b, [kept])
    await addFormerSecrets(db, other, [lost, gone])
    const before = await everything(db)
    const deleted = await deleteUndecryptable(db, createSealer(b), new Date())
    expect(deleted).toEqual({ templates: 1, subscriptions: 1, formerSecrets: 2, signingKeys: 0 })
    const after = await everything(db)
    const none = { formerSecret: null, formerUntil: null }
    expect(after.apps.slice(0, 2)).toEqual([before.apps[0], { ...before.apps[1]!, ...none }])
    expect(after.subscriptions.slice(0, 2)).toEqual([before.subscriptions[0], { ...before.subscriptions[1]!, ...none }])
    expect([after.apps[2], after.subscriptions[2]]).toMatchObject([
      { webhookSecret: null, ...none },
      { secret: null, ...none },
    ])
  })

  it('fails all deliveries of a subscription, more than one statement does', async () => {
    const { db, apps } = await startTenant(1)
    const [app] = apps as [string]
    await addSecrets(db, newKey(), apps)
    const at = new Date()
    await db.$executeRaw`
      WITH events AS (
        INSERT INTO "PublishedEvent" ("appId", id, type, body, "publishedAt")
        SELECT ${app}, 'event-' || n, 't', '{}', ${at} FROM generate_series(1, 1001) n
      )
      INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", "createdAt", "nextAttemptAt")
      SELECT 'delivery-' || n, ${app}, 'event-' || n, ${`of-${app}`}, ${at}, ${at} FROM generate_series(1, 1001) n`
    await deleteUndecryptable(db, createSealer(newKey()), at)
    expect(await db.delivery.count({ where: { state: 'failed' } })).toBe(1_001)
  })

  it('keeps a value that is set meanwhile', async () => {
    const { db, apps, env } = await startTenant(1)
    const [b, lost] = [newKey(), newKey()]
    const [app] = apps as [string]
    await addSecrets(db, lost, apps)
    const url = env().DATABASE_URL
    const writer = await connect(url)
    const encrypted = createSealer(b).encrypt('set meanwhile', associatedData.template(app))
    await writer.query('BEGIN')
    await writer.query('UPDATE "App" SET "webhookSecret" = $1', [encrypted])
    const deleting = deleteUndecryptable(db, createSealer(b), new Date())
    await someoneWaits(url)
    await writer.query('COMMIT')
    expect(await deleting).toEqual({ templates: 0, subscriptions: 1, formerSecrets: 0, signingKeys: 0 })
    expect(await db.app.findUnique({ where: { id: app } })).toMatchObject({
      webhookUrl: `https://example.org/${app}`,
      webhookSecret: encrypted,
    })
  })
})

const readId = ({ id }: { id: string }) => id

/** To the subscription of each app: one that is due, one that a worker is trying, and one that has arrived. */
async function addDeliveries(db: Database, apps: string[]) {
  const at = new Date()
  await db.publishedEvent.createMany({
    data: apps.map((appId) => ({ appId, id: 'event', type: 't', body: '{}', publishedAt: at })),
  })
  const deliveries = apps.flatMap((appId) => {
    const one = { appId, eventId: 'event', subscriptionId: `of-${appId}`, createdAt: at }
    return [
      { ...one, id: randomUUID(), state: 'pending' as const, nextAttemptAt: at },
      {
        ...one,
        id: randomUUID(),
        state: 'pending' as const,
        nextAttemptAt: at,
        lease: 'worker-1',
        leasedUntil: new Date(at.getTime() + 60_000),
      },
      { ...one, id: randomUUID(), state: 'delivered' as const, attempts: 1, finishedAt: at },
    ]
  })
  await db.delivery.createMany({ data: deliveries })
  return deliveries
}

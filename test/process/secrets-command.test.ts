import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { places } from '../../routers/webhook/seal.ts'
import { makeKey } from '../../server/oauth/keys.ts'
import { sealAnew } from '../../server/secrets/rotate.ts'
import { checkSecretsKey } from '../../server/secrets-key.ts'
import { query } from './outside.ts'
import { addSecrets, countsOf, newKey, sealerOf, secretOf, startTenant } from './secrets-tenant.ts'
import { command, start, until } from './service.ts'

const counts = (...rows: [number[], number[], number[], number[]]) => ({
  'App.webhookSecret': rows[0],
  'Subscription.secret': rows[1],
  'SigningKey.sealed': rows[2],
  'SecretsKeyCheck.sealed': rows[3],
})

/** All that the command could change. */
const everything = async (db: Database) => ({
  apps: await db.app.findMany({ orderBy: { id: 'asc' } }),
  subscriptions: await db.subscription.findMany({ orderBy: { id: 'asc' } }),
  deliveries: await db.delivery.findMany({ orderBy: { id: 'asc' } }),
  keys: await db.signingKey.findMany({ orderBy: { kid: 'asc' } }),
  check: await db.secretsKeyCheck.findMany(),
})

describe('secrets rotate', { timeout: 180_000 }, () => {
  it('leaves what is set while it runs as it was set, and seals that anew as well', async () => {
    const { db, apps, env, secrets } = await startTenant(4)
    const [a, b] = [newKey(), newKey()]
    await addSecrets(db, a, apps)
    const [byOld, byNew, cleared, removed] = apps as [string, string, string, string]
    const sealed = sealerOf(b).seal('set with the new key', places.template(byNew))

    // What four requests have written and not yet committed when the rotation comes to their rows.
    const writer = new pg.Client(env(a).DATABASE_URL)
    await writer.connect()
    onTestFinished(() => writer.end())
    await writer.query('BEGIN')
    const set = (app: string, value: string | null) =>
      writer.query('UPDATE "App" SET "webhookSecret" = $2 WHERE id = $1', [app, value])
    await set(byOld, sealerOf(a).seal('set with the old key', places.template(byOld)))
    await set(byNew, sealed)
    await set(cleared, null)
    await writer.query('DELETE FROM "App" WHERE id = $1', [removed])

    const rotating = secrets([b, a], 'rotate')
    await until(
      () =>
        query(
          env(a).DATABASE_URL,
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
        AND wait_event_type = 'Lock'`,
        ),
      (waiting) => waiting.length === 1,
      60_000,
    )
    await writer.query('COMMIT')
    const { code, stdout } = await rotating
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Sealed anew with the first key: 4 values\n/)
    expect(countsOf(stdout)).toEqual(counts([2, 0, 0], [3, 0, 0], [0, 0, 0], [0, 0, 0]))

    const secretsOf = Object.fromEntries((await db.app.findMany()).map((app) => [app.id, app.webhookSecret]))
    expect(Object.keys(secretsOf).sort()).toEqual([byOld, byNew, cleared])
    expect(sealerOf(b).open(secretsOf[byOld]!, places.template(byOld))).toBe('set with the old key')
    expect(secretsOf[byNew]).toBe(sealed)
    expect(secretsOf[cleared]).toBeNull()
  })

  it('says what no key opens, leaves it, and seals the rest anew', async () => {
    const { db, apps, secrets } = await startTenant(3)
    const [a, b, lost] = [newKey(), newKey(), newKey()]
    await addSecrets(db, a, apps.slice(0, 2))
    await addSecrets(db, lost, apps.slice(2))
    // Copied from another row: it was sealed for that one.
    const { webhookSecret } = await db.app.findUniqueOrThrow({ where: { id: apps[0]! } })
    await db.app.update({ where: { id: apps[1]! }, data: { webhookSecret } })
    const before = await everything(db)

    const checked = await secrets([b, a], 'check')
    expect(checked).toMatchObject({ code: 1, stderr: 'No key of SECRETS_KEY opens 3 values.\n' })
    expect(countsOf(checked.stdout)).toEqual(counts([0, 1, 2], [0, 2, 1], [0, 0, 0], [0, 0, 0]))
    expect(await everything(db)).toEqual(before)

    const rotated = await secrets([b, a], 'rotate')
    expect(rotated).toMatchObject({ code: 1, stderr: 'No key of SECRETS_KEY opens 3 values.\n' })
    expect(rotated.stdout).toMatch(/: 3 values\n/)
    expect(countsOf(rotated.stdout)).toEqual(counts([1, 0, 2], [2, 0, 1], [0, 0, 0], [0, 0, 0]))
    const after = await everything(db)
    expect(after.apps.slice(1)).toEqual(before.apps.slice(1))
    expect(sealerOf(b).open(after.apps[0]!.webhookSecret!, places.template(apps[0]!))).toBe(secretOf(apps[0]!))

    expect(await sealAnew(db, sealerOf(b, a))).toBe(0)
    expect(await everything(db)).toEqual(after)
  })
})

describe('secrets forget', { timeout: 180_000 }, () => {
  it('removes what no key opens, with its addresses and deliveries, and nothing else', async () => {
    const { db, apps, env, secrets } = await startTenant(4)
    const [kept, gone, plain] = apps as [string, string, string, string]
    const [b, lost] = [newKey(), newKey()]
    await addSecrets(db, b, [kept])
    await addSecrets(db, lost, [gone])
    await db.app.update({ where: { id: plain }, data: { webhookUrl: 'https://example.org/plain' } })
    await db.subscription.create({ data: { id: 'plain', appId: plain, subscriber: 's', url: 'https://example.org' } })
    const signing = [await makeKey(sealerOf(b), new Date()), await makeKey(sealerOf(lost), new Date())]
    await db.signingKey.createMany({ data: signing })
    await checkSecretsKey(db, sealerOf(lost, b))
    const deliveries = await addDeliveries(db, [kept, gone])
    const before = await everything(db)

    await expect(checkSecretsKey(db, sealerOf(b))).rejects.toThrow()
    expect(await secrets([b], 'forget')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'Nothing was removed: without a terminal nobody can be asked, so --yes is needed.\n',
    })
    expect(await everything(db)).toEqual(before)

    const forgot = await secrets([b], 'forget', '--yes')
    expect(forgot).toMatchObject({ code: 0, stderr: '' })
    expect(countsOf(forgot.stdout)).toEqual(counts([1, 0, 1], [1, 0, 1], [1, 0, 1], [0, 0, 1]))
    expect(forgot.stdout).toMatch(/Removed: templates 1, subscriptions 1, signing keys 1\n$/)

    const after = await everything(db)
    const without = { webhookUrl: null, webhookSecret: null }
    expect(after.apps).toEqual(before.apps.map((app) => (app.id === gone ? { ...app, ...without } : app)))
    const ended = { url: null, secret: null, endedAt: expect.any(Date) }
    expect(after.subscriptions).toEqual(
      before.subscriptions.map((one) => (one.appId === gone ? { ...one, ...ended } : one)),
    )
    expect(after.keys.map(({ kid }) => kid)).toEqual([signing[0]!.kid])
    const failed = {
      ...{ state: 'failed', nextAttemptAt: null, lease: null, leasedUntil: null },
      ...{ lastError: 'the secret of the subscription was lost', finishedAt: expect.any(Date) },
    }
    const lostOnes = new Set(deliveries.filter(({ appId, state }) => appId === gone && state === 'pending').map(idOf))
    expect(lostOnes.size).toBe(2)
    expect(after.deliveries).toEqual(
      before.deliveries.map((one) => (lostOnes.has(one.id) ? { ...one, ...failed } : one)),
    )

    expect((await secrets([b], 'forget', '--yes')).stdout).toMatch(/\nThere is nothing that no key opens\.\n$/)
    expect(await everything(db)).toEqual(after)
    await (await start(env(b))).stop()
  })
})

describe('the secrets command', { timeout: 60_000 }, () => {
  it('says what is wrong with its arguments, before it looks for a database', async () => {
    const env = { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing', SECRETS_KEY: newKey() }
    const wrong: [string[], string][] = [
      [[], 'What to do is one word, check, rotate or forget:'],
      [['rotate', '--yes'], '--yes is for forget:'],
      [['forget', '--all'], "Unknown option '--all'"],
      [['check'], 'The database cannot be used: '],
    ]
    const check = async ([args, sentence]: [string[], string]) => {
      const { code, stdout, stderr } = await command('secrets', args, env).ended
      expect({ args, code, stdout, stderr }).toEqual({
        ...{ args, code: 1, stdout: '' },
        stderr: expect.stringContaining(sentence),
      })
    }
    await Promise.all(wrong.map(check))
  })
})

const idOf = ({ id }: { id: string }) => id

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
        ...{ ...one, id: randomUUID(), state: 'pending' as const, nextAttemptAt: at },
        ...{ lease: 'worker-1', leasedUntil: new Date(at.getTime() + 60_000) },
      },
      { ...one, id: randomUUID(), state: 'delivered' as const, attempts: 1, finishedAt: at },
    ]
  })
  await db.delivery.createMany({ data: deliveries })
  return deliveries
}

import { describe, expect, it } from 'vitest'
import { associatedData } from '../../routers/kernel/cipher.ts'
import { columnsOfApp, columnsOfSubscription, signingSecrets } from '../../routers/webhooks/stored-secrets.ts'
import { pickSecrets } from '../../routers/webhooks/template.ts'
import { checkSecretsKey } from '../../server/secrets/keys.ts'
import { reencrypt } from '../../server/secrets/reencrypt.ts'
import { connect, counts, everything, someoneWaits } from '../process/secrets-database.ts'
import {
  addFormerSecrets,
  addSecrets,
  createSealer,
  makeSecret,
  newKey,
  parseCounts,
  startTenant,
} from '../process/secrets-tenant.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { failed, misused, run, succeeded } from './run.ts'

describe('secrets rotate', () => {
  it('keeps values that are set while it runs, and encrypts these with the first key as well', async () => {
    const { db, apps, env } = await startTenant(4)
    const [a, b] = [newKey(), newKey()]
    await addSecrets(db, a, apps)
    const [byOld, byNew, cleared, removed] = apps as [string, string, string, string]
    const encrypted = createSealer(b).encrypt('set with the new key', associatedData.template(byNew))

    // Four requests have written and not yet committed when the rotation reaches their rows.
    const writer = await connect(env(a).DATABASE_URL)
    await writer.query('BEGIN')
    const set = (app: string, value: string | null) =>
      writer.query('UPDATE "App" SET "webhookSecret" = $2 WHERE id = $1', [app, value])
    await set(byOld, createSealer(a).encrypt('set with the old key', associatedData.template(byOld)))
    await set(byNew, encrypted)
    await set(cleared, null)
    await writer.query('DELETE FROM "App" WHERE id = $1', [removed])

    const rotating = run(['secrets', 'rotate'], env(b, a))
    await someoneWaits(env(a).DATABASE_URL)
    await writer.query('COMMIT')
    const { code, stdout } = await rotating
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Encrypted with the first key: 4 values\n/)
    expect(parseCounts(stdout)).toEqual(counts([2, 0, 0], [3, 0, 0], [0, 0, 0], [0, 0, 0]))

    const secrets = Object.fromEntries((await db.app.findMany()).map((app) => [app.id, app.webhookSecret]))
    expect(Object.keys(secrets).sort()).toEqual([byOld, byNew, cleared])
    expect(createSealer(b).decrypt(secrets[byOld]!, associatedData.template(byOld))).toBe('set with the old key')
    expect(secrets[byNew]).toBe(encrypted)
    expect(secrets[cleared]).toBeNull()
  })

  it('counts and keeps values that no key decrypts, and encrypts the rest with the first key', async () => {
    const { db, apps, env } = await startTenant(3)
    const [a, b, lost] = [newKey(), newKey(), newKey()]
    await addSecrets(db, a, apps.slice(0, 2))
    await addSecrets(db, lost, apps.slice(2))
    // Copied from another row: it was encrypted for that one.
    const { webhookSecret } = await db.app.findUniqueOrThrow({ where: { id: apps[0]! } })
    await db.app.update({ where: { id: apps[1]! }, data: { webhookSecret } })
    const before = await everything(db)

    const checked = await run(['secrets', 'check'], env(b, a))
    expect(checked).toMatchObject({ code: 1, stderr: 'No key of SECRETS_KEY decrypts 3 values.\n' })
    expect(parseCounts(checked.stdout)).toEqual(counts([0, 1, 2], [0, 2, 1], [0, 0, 0], [0, 0, 0]))
    expect(await everything(db)).toEqual(before)

    const rotated = await run(['secrets', 'rotate'], env(b, a))
    expect(rotated).toMatchObject({ code: 1, stderr: 'No key of SECRETS_KEY decrypts 3 values.\n' })
    expect(rotated.stdout).toMatch(/: 3 values\n/)
    expect(parseCounts(rotated.stdout)).toEqual(counts([1, 0, 2], [2, 0, 1], [0, 0, 0], [0, 0, 0]))
    const after = await everything(db)
    expect(after.apps.slice(1)).toEqual(before.apps.slice(1))
    expect(createSealer(b).decrypt(after.apps[0]!.webhookSecret!, associatedData.template(apps[0]!))).toBe(
      makeSecret(apps[0]!),
    )

    expect(await reencrypt(db, createSealer(b, a))).toBe(0)
    expect(await everything(db)).toEqual(after)
  })

  it('encrypts former secrets with the first key, and leaves their end', async () => {
    const { db, apps, env } = await startTenant(2)
    const [a, b] = [newKey(), newKey()]
    await addSecrets(db, a, apps)
    await addFormerSecrets(db, a, apps)
    const before = await everything(db)
    const checked = await run(['secrets', 'check'], env(b, a))
    expect(parseCounts(checked.stdout)).toEqual(counts([0, 2, 0], [0, 2, 0], [0, 0, 0], [0, 0, 0], [0, 2, 0]))
    const rotated = await run(['secrets', 'rotate'], env(b, a))
    expect(rotated.stdout).toMatch(/: 8 values\n/)
    expect(parseCounts(rotated.stdout)).toEqual(counts([2, 0, 0], [2, 0, 0], [0, 0, 0], [0, 0, 0], [2, 0, 0]))
    const after = await everything(db)
    const app = apps[0]!
    const signing = [
      signingSecrets(createSealer(b), columnsOfApp(app), pickSecrets(after.apps[0]!), Date.now()),
      signingSecrets(createSealer(b), columnsOfSubscription(`of-${app}`), after.subscriptions[0]!, Date.now()),
    ]
    expect(signing).toEqual(Array(2).fill({ secret: makeSecret(app), former: `former ${makeSecret(app)}` }))
    expect(after.apps.map(({ formerUntil }) => formerUntil)).toEqual(before.apps.map(({ formerUntil }) => formerUntil))
  })

  it('encrypts a former secret that a change stores while it runs', async () => {
    const { db, apps, env } = await startTenant(1)
    const [a, b] = [newKey(), newKey()]
    const app = apps[0]!
    await addSecrets(db, a, apps)
    const writer = await connect(env(a).DATABASE_URL)
    await writer.query('BEGIN')
    await writer.query(
      `UPDATE "App" SET "webhookSecret" = $1, "formerSecret" = $2, "formerUntil" = now() + interval '1 day'`,
      [
        createSealer(a).encrypt('set meanwhile', associatedData.template(app)),
        createSealer(a).encrypt(makeSecret(app), associatedData.formerTemplate(app)),
      ],
    )
    const rotating = run(['secrets', 'rotate'], env(b, a))
    await someoneWaits(env(a).DATABASE_URL)
    await writer.query('COMMIT')
    expect((await rotating).code).toBe(0)
    const [row] = (await everything(db)).apps
    expect(signingSecrets(createSealer(b), columnsOfApp(app), pickSecrets(row!), Date.now())).toEqual({
      secret: 'set meanwhile',
      former: makeSecret(app),
    })
  })
})

describe('the secrets command', () => {
  const env = { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing', SECRETS_KEY: newKey() }

  it.each<[string[], string]>([
    [[], ''],
    [['rotate', '--yes'], "Unknown option '--yes'"],
    [['forget', '--all'], "Unknown option '--all'"],
  ])('exits 2 before it looks for a database when its arguments are %j', async (args, message) => {
    expect(await run(['secrets', ...args], env)).toEqual(misused(message))
  })

  it('is the only one that needs the key of the database', async () => {
    const { db, env } = await startTenant(1)
    await checkSecretsKey(db, createSealer(newKey()))
    const other = env(newKey())
    expect(await run(['keys', 'list'], other)).toEqual(succeeded(''))
    expect(await run(['client', 'list'], other)).toMatchObject({ code: 0, stderr: '' })
    const usage = ['storage', 'usage', '--app', 'app-0', '--club', 'nowhere']
    expect(await run(usage, other)).toEqual(failed('Club nowhere does not exist.\n'))
  })
})

describe('the first start', () => {
  it('detects a wrong key also when the secrets are older than the check', async () => {
    const { db, apps } = await startTenant(2)
    const [a, b, c] = [newKey(), newKey(), newKey()]
    await addSecrets(db, a, apps.slice(0, 1))
    await addSecrets(db, c, apps.slice(1))
    await expect(checkSecretsKey(db, createSealer(b))).rejects.toThrow('SECRETS_KEY is not the key')
    expect(await db.secretsKeyCheck.count()).toBe(0)
    // One value can be decrypted: the others are left to `secrets check`.
    await checkSecretsKey(db, createSealer(a))
    await expect(checkSecretsKey(db, createSealer(c))).rejects.toThrow('SECRETS_KEY is not the key')
  })

  it('stores the check of one of several nodes that start at once with different keys, and refuses the others', async () => {
    const { db, env } = await startTenant(0)
    const nodes = Array.from({ length: 8 }, () => ({ key: newKey(), db: openTestDatabase(env().DATABASE_URL) }))
    // Connected, so that they begin together.
    await Promise.all(nodes.map((node) => node.db.$queryRaw`SELECT 1`))
    const starts = await Promise.allSettled(nodes.map((node) => checkSecretsKey(node.db, createSealer(node.key))))
    await Promise.all(nodes.map((node) => node.db.$disconnect()))
    const opening = nodes.filter((_, n) => starts[n]!.status === 'fulfilled')
    expect(opening).toHaveLength(1)
    await checkSecretsKey(db, createSealer(opening[0]!.key))
  })
})

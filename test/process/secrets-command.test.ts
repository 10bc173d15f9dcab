import { describe, expect, it } from 'vitest'
import { associatedData } from '../../routers/cipher.ts'
import { reencrypt } from '../../server/secrets/reencrypt.ts'
import { connect, counts, everything, someoneWaits } from './secrets-database.ts'
import { addSecrets, countsOf, newKey, sealerOf, secretOf, startTenant } from './secrets-tenant.ts'
import { command } from './service.ts'

describe('secrets rotate', { timeout: 180_000 }, () => {
  it('leaves what is set while it runs as it was set, and seals that anew as well', async () => {
    const { db, apps, env, secrets } = await startTenant(4)
    const [a, b] = [newKey(), newKey()]
    await addSecrets(db, a, apps)
    const [byOld, byNew, cleared, removed] = apps as [string, string, string, string]
    const sealed = sealerOf(b).encrypt('set with the new key', associatedData.template(byNew))

    // What four requests have written and not yet committed when the rotation comes to their rows.
    const writer = await connect(env(a).DATABASE_URL)
    await writer.query('BEGIN')
    const set = (app: string, value: string | null) =>
      writer.query('UPDATE "App" SET "webhookSecret" = $2 WHERE id = $1', [app, value])
    await set(byOld, sealerOf(a).encrypt('set with the old key', associatedData.template(byOld)))
    await set(byNew, sealed)
    await set(cleared, null)
    await writer.query('DELETE FROM "App" WHERE id = $1', [removed])

    const rotating = secrets([b, a], 'rotate')
    await someoneWaits(env(a).DATABASE_URL)
    await writer.query('COMMIT')
    const { code, stdout } = await rotating
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Sealed anew with the first key: 4 values\n/)
    expect(countsOf(stdout)).toEqual(counts([2, 0, 0], [3, 0, 0], [0, 0, 0], [0, 0, 0]))

    const secretsOf = Object.fromEntries((await db.app.findMany()).map((app) => [app.id, app.webhookSecret]))
    expect(Object.keys(secretsOf).sort()).toEqual([byOld, byNew, cleared])
    expect(sealerOf(b).decrypt(secretsOf[byOld]!, associatedData.template(byOld))).toBe('set with the old key')
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
    expect(sealerOf(b).decrypt(after.apps[0]!.webhookSecret!, associatedData.template(apps[0]!))).toBe(
      secretOf(apps[0]!),
    )

    expect(await reencrypt(db, sealerOf(b, a))).toBe(0)
    expect(await everything(db)).toEqual(after)
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

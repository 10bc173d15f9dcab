import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../prisma/client.ts'
import { checkSecretsKey } from '../../server/secrets/keys.ts'
import { reencrypt } from '../../server/secrets/reencrypt.ts'
import { addSecrets, newKey, sealerOf, startTenant } from './secrets-tenant.ts'
import { command, launch, start } from './service.ts'

const wrongKey = `SECRETS_KEY is not the key with which the secrets in this database are sealed.
Set the one that the other nodes have, or had. Where it was never set, it is in the file secrets-key of DATA_DIR.
Where that key is lost, npm run -s secrets -- forget removes what it has sealed.
`

describe('a start', { timeout: 180_000 }, () => {
  it('with another key than the first one had is refused, in whatever order there are several', async () => {
    const { db, env } = await startTenant(0)
    const [a, b, c] = [newKey(), newKey(), newKey()]
    await (await start(env(a))).stop()
    const check = await db.secretsKeyCheck.findMany()
    expect(check).toEqual([{ id: 1, ciphertext: expect.stringMatching(/^v1\./) }])
    const keys = await db.signingKey.findMany()

    expect(await (await launch(env(b))).ended).toMatchObject({ code: 1, signal: null, stderr: wrongKey })
    await expect(checkSecretsKey(db, sealerOf(b, c))).rejects.toThrow(wrongKey.trimEnd())
    const both = await start(env(b, a))
    expect(await both.stop()).toMatchObject({ code: 0, stderr: '' })
    await checkSecretsKey(db, sealerOf(a, b))
    expect(await db.secretsKeyCheck.findMany()).toEqual(check)
    expect(await db.signingKey.findMany()).toEqual(keys)
  })

  it('without SECRETS_KEY has the key of its directory, which takes part in a rotation from there', async () => {
    const { db, env } = await startTenant(0)
    const { DATABASE_URL, DATA_DIR } = env()
    await (await start({ DATABASE_URL, DATA_DIR })).stop()
    const kept = await readFile(join(DATA_DIR, 'secrets-key'), 'utf8')
    const next = newKey()
    await expect(checkSecretsKey(db, sealerOf(next))).rejects.toThrow('SECRETS_KEY is not the key')
    const rotating = await start(env(next, kept))
    expect(await reencrypt(db, sealerOf(next, kept))).toBe(2)
    expect(await rotating.stop()).toMatchObject({ code: 0, stderr: '' })
    await checkSecretsKey(db, sealerOf(next))
    await expect(checkSecretsKey(db, sealerOf(kept))).rejects.toThrow('SECRETS_KEY is not the key')
  })

  it('is no matter of the commands that need no key', async () => {
    const { db, env } = await startTenant(1)
    await checkSecretsKey(db, sealerOf(newKey()))
    const [other, ok] = [env(newKey()), { code: 0, stderr: '' }]
    const usage = ['usage', '--app', 'app-0', '--club', 'nowhere']
    const ended = await Promise.all([
      command('keys', ['list'], other).ended,
      command('client', ['list'], other).ended,
      command('storage', usage, other).ended,
    ])
    expect(ended).toMatchObject([ok, ok, { code: 1, stderr: 'There is no club nowhere.\n' }])
  })
})

describe('the first start', { timeout: 60_000 }, () => {
  it('finds a wrong key also among secrets that are older than the check', async () => {
    const { db, apps } = await startTenant(2)
    const [a, b, c] = [newKey(), newKey(), newKey()]
    await addSecrets(db, a, apps.slice(0, 1))
    await addSecrets(db, c, apps.slice(1))
    await expect(checkSecretsKey(db, sealerOf(b))).rejects.toThrow('SECRETS_KEY is not the key')
    expect(await db.secretsKeyCheck.count()).toBe(0)
    // Some open: those of another key are what `secrets check` is for.
    await checkSecretsKey(db, sealerOf(a))
    await expect(checkSecretsKey(db, sealerOf(c))).rejects.toThrow('SECRETS_KEY is not the key')
  })

  it('of several nodes at once, with a key each, leaves the check of one, and refuses the others', async () => {
    const { db, env } = await startTenant(0)
    const nodes = Array.from({ length: 8 }, () => ({ key: newKey(), db: openDatabase(env().DATABASE_URL, () => {}) }))
    // Connected, so that they begin together.
    await Promise.all(nodes.map((node) => node.db.$queryRaw`SELECT 1`))
    const starts = await Promise.allSettled(nodes.map((node) => checkSecretsKey(node.db, sealerOf(node.key))))
    await Promise.all(nodes.map((node) => node.db.$disconnect()))
    const opening = nodes.filter((_, n) => starts[n]!.status === 'fulfilled')
    expect(opening).toHaveLength(1)
    await checkSecretsKey(db, sealerOf(opening[0]!.key))
  })
})

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkSecretsKey } from '../../server/secrets/keys.ts'
import { reencrypt } from '../../server/secrets/reencrypt.ts'
import { createSealer, newKey, startTenant } from './secrets-tenant.ts'
import { command, launch, send, start, until } from './service.ts'

const wrongKey = `SECRETS_KEY is not the key that encrypted the secrets in this database.
Set the key of the other nodes, or the previous one. If it was never set, it is in the file secrets-key of DATA_DIR.
If that key is lost, member-apps secrets forget deletes what it encrypted.
`

describe('a start', () => {
  it('fails with another key than that of the first start, and works with both in either order', async () => {
    const { db, env } = await startTenant(0)
    const [a, b, c] = [newKey(), newKey(), newKey()]
    await (await start(env(a))).stop()
    const check = await db.secretsKeyCheck.findMany()
    expect(check).toEqual([{ id: 1, ciphertext: expect.stringMatching(/^v1\./) }])
    const keys = await db.signingKey.findMany()

    expect(await (await launch(env(b))).ended).toMatchObject({ code: 1, signal: null, stderr: wrongKey })
    await expect(checkSecretsKey(db, createSealer(b, c))).rejects.toThrow(wrongKey.trimEnd())
    const both = await start(env(b, a))
    expect(await both.stop()).toMatchObject({ code: 0, stderr: '' })
    await checkSecretsKey(db, createSealer(a, b))
    expect(await db.secretsKeyCheck.findMany()).toEqual(check)
    expect(await db.signingKey.findMany()).toEqual(keys)
  })

  it('without SECRETS_KEY uses a key in DATA_DIR, from which a rotation can go on', async () => {
    const { db, env } = await startTenant(0)
    const { DATABASE_URL, DATA_DIR } = env()
    await (await start({ DATABASE_URL, DATA_DIR })).stop()
    const kept = await readFile(join(DATA_DIR, 'secrets-key'), 'utf8')
    const next = newKey()
    await expect(checkSecretsKey(db, createSealer(next))).rejects.toThrow('SECRETS_KEY is not the key')
    const rotating = await start(env(next, kept))
    // The check of the key, the signing keys of both algorithms, and that of cards.
    expect(await reencrypt(db, createSealer(next, kept))).toBe(4)
    expect(await rotating.stop()).toMatchObject({ code: 0, stderr: '' })
    await checkSecretsKey(db, createSealer(next))
    await expect(checkSecretsKey(db, createSealer(kept))).rejects.toThrow('SECRETS_KEY is not the key')
  })
})

it('a node that has the former key alone after a rotation is not ready, says so once, and stores no secret that the others could not decrypt', async () => {
  const { db, apps, env, token } = await startTenant(1)
  const [former, next] = [newKey(), newKey()]
  const node = await start(env(former))
  const put = async (secret: string) => {
    const headers = { host: 'notify.localhost', authorization: `Bearer ${await token()}` }
    const body = { url: 'https://example.org/hook', secret }
    return send(node.port, 'PUT', `/v1/apps/${apps[0]}/webhook`, { headers, body })
  }
  expect((await put('first')).status).toBe(200)
  expect(await command('secrets', ['rotate'], env(next, former)).ended).toMatchObject({ code: 0 })
  const before = await db.app.findMany()
  expect((await put('second')).status).toBe(503)
  expect(await db.app.findMany()).toEqual(before)
  const ready = async () => (await send(node.internalPort, 'GET', '/readyz')).status
  await until(ready, (status) => status === 503)
  expect(await ready()).toBe(503)
  expect((await send(node.internalPort, 'GET', '/readyz?exclude=database')).status).toBe(503)
  const said = async () => node.stdout().split('SECRETS_KEY is not the key of the secrets in the database').length - 1
  await until(said, (count) => count > 0)
  expect(await said()).toBe(1)
  await node.stop()
  const other = await start(env(next))
  expect((await send(other.internalPort, 'GET', '/readyz')).status).toBe(200)
  await other.stop()
})

import { expect, it } from 'vitest'
import { associatedData } from '../../../routers/kernel/cipher.ts'
import { addSecrets, countsOf, newKey, sealerOf, secretOf, startTenant } from '../../process/secrets-tenant.ts'
import { command, launch } from '../../process/service.ts'
import { startLoad, startNodes } from './secrets-load.ts'

/** Written continuously. */
const BUSY = 40
/** Never written: only the rotation encrypts them again. More than a page of them. */
const QUIET = 700

const allFirst = {
  'App.webhookSecret': [expect.any(Number), 0, 0],
  'Subscription.secret': [QUIET, 0, 0],
  'SigningKey.ciphertext': [1, 0, 0],
  'SecretsKeyCheck.ciphertext': [1, 0, 0],
}

it('secrets rotate loses no secret and fails no request while nodes change keys under writes', {
  timeout: 300_000,
}, async () => {
  const { db, apps, env, token } = await startTenant(BUSY + QUIET)
  const [a, b] = [newKey(), newKey()]
  await addSecrets(db, a, apps.slice(BUSY))

  const nodes = await startNodes(env(a))
  const load = startLoad(nodes, await token(), apps.slice(0, BUSY))
  try {
    await load.more()
    for (const keys of [
      [a, b],
      [b, a],
    ]) {
      await nodes.restart(env(...keys))
      await load.more()
    }
    const rotated = await command('secrets', ['rotate'], env(b, a)).ended
    expect(rotated).toMatchObject({ code: 0, stderr: '' })
    expect(rotated.stdout).toMatch(/^Encrypted with the first key: \d+ values\n/)
    expect(countsOf(rotated.stdout)).toEqual(allFirst)
    // The templates and the subscriptions, the key that signs, and the check; of those that are written, what was left.
    const [, count] = /(\d+) values/.exec(rotated.stdout)!
    expect(Number(count)).toBeGreaterThanOrEqual(2 * QUIET + 2)
    await load.more()
    await nodes.restart(env(b))
    await load.more()
  } finally {
    await load.stop()
  }

  expect(load.failures).toEqual([])
  expect(load.last.size).toBe(BUSY)
  const cipher = sealerOf(b)
  const rows = await db.app.findMany({ include: { subscriptions: true } })
  expect(rows).toHaveLength(BUSY + QUIET)
  for (const { id, webhookUrl, webhookSecret, subscriptions } of rows) {
    const wanted = load.last.get(id) ?? { url: `https://example.org/${id}`, secret: secretOf(id) }
    const secret = webhookSecret === null ? undefined : cipher.decrypt(webhookSecret, associatedData.template(id))
    expect({ id, url: webhookUrl, secret }).toEqual({ id, ...wanted })
    for (const subscription of subscriptions) {
      expect(cipher.decrypt(subscription.secret!, associatedData.subscription(subscription.id))).toBe(secretOf(id))
    }
  }
  const checked = await command('secrets', ['check'], env(b)).ended
  expect(checked).toMatchObject({ code: 0, stderr: '' })
  expect(countsOf(checked.stdout)).toEqual(allFirst)
  const old = await (await launch(env(a))).ended
  expect(old).toMatchObject({ code: 1, stderr: expect.stringMatching(/^SECRETS_KEY is not the key/) })
})

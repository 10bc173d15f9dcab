import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { verifyWebhook } from '../../clients/sdk/webhooks.ts'
import { columnsOfApp, noFormer, signingSecrets } from '../../routers/webhooks/stored-secrets.ts'
import { pickSecrets, secretColumns } from '../../routers/webhooks/template.ts'
import { holdApp, meanwhile } from '../support/meanwhile.ts'
import { asPlatform } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld({ onLog: (line) => log.push(line) })
const log: string[] = []
const url = 'https://hooks.example.org/in'
const HOUR = 3_600

let app: string
let client: string
beforeEach(async () => {
  const { team: teamId, provider: providerId } = world.ids
  ;[app, client] = [id('app'), id('client')]
  const clients = { create: { id: client, name: 'C', teamId, environment: 'production' as const } }
  await world.db.app.create({ data: { id: app, name: 'App', teamId, providerId, clients } })
})

const own = () => ({ claims: { client_id: client } })
const send = (body: object) => world.call('PUT', `/apps/${app}/webhook`, { body, ...own() })
const put = async (secret?: string) => expect((await send({ url, secret })).status).toBe(200)
const row = () => world.db.app.findUniqueOrThrow({ where: { id: app } })
const stored = async () => {
  const columns = await world.db.app.findUniqueOrThrow({ where: { id: app }, select: secretColumns })
  return signingSecrets(world.core.cipher, columnsOfApp(app), pickSecrets(columns), world.core.now())
}

interface Item {
  headers: Record<string, string>
  payload: string
}
const publish = () => asPlatform(world).events.publish({ app, type: 't', data: 'ä' })
const fetched = async (query = ''): Promise<Item> => (await world.call('GET', `/events${query}`, own())).body.items[0]

/** The secrets among `all` whose HMAC is in the header, in its order. */
function signers({ headers, payload }: Item, all: readonly string[]) {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${payload}`
  const of = (secret: string) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`
  return headers['webhook-signature']!.split(' ').map((one) => all.find((secret) => of(secret) === one))
}
const all = ['first', 'second', 'third']

describe('GET /events after the secret was replaced', () => {
  it('signs with the new secret and the former one, which receivers verify with either', async () => {
    await publish()
    await put('first')
    expect(signers(await fetched(), all)).toEqual(['first'])
    await put('second')
    const item = await fetched()
    expect(signers(item, all)).toEqual(['second', 'first'])
    // The SDK's clock is the machine's.
    const tolerance = { toleranceSeconds: 1e9 }
    for (const secret of ['first', 'second']) {
      expect(await verifyWebhook(item.payload, item.headers, secret, tolerance)).toMatchObject({ data: 'ä' })
    }
    await expect(verifyWebhook(item.payload, item.headers, 'third', tolerance)).rejects.toThrow('not signed')
  })

  it('signs with the new secret alone after 24 hours', async () => {
    await publish()
    await put('first')
    await put('second')
    world.advance(23 * HOUR)
    expect(signers(await fetched(), all)).toEqual(['second', 'first'])
    world.advance(HOUR)
    expect(signers(await fetched(), all)).toEqual(['second'])
  })

  it('signs with the one before the last after a second change, and with the same two after the same secret', async () => {
    await publish()
    await put('first')
    await put('second')
    await put('third')
    const { formerUntil } = await row()
    expect(signers(await fetched(), all)).toEqual(['third', 'second'])
    world.advance(HOUR)
    await put('third')
    expect((await row()).formerUntil).toEqual(formerUntil)
    expect(signers(await fetched(), all)).toEqual(['third', 'second'])
  })

  it.each([
    ['PUT without a secret', () => put()],
    ['DELETE', () => world.call('DELETE', `/apps/${app}/webhook`, own())],
  ])('signs nothing after %s, and with a later secret alone', async (_, clear) => {
    await publish()
    await put('first')
    await put('second')
    await clear()
    expect(await row()).toMatchObject({ webhookSecret: null, formerSecret: null, formerUntil: null })
    expect((await fetched()).headers).not.toHaveProperty('webhook-signature')
    await put('third')
    expect(signers(await fetched(), all)).toEqual(['third'])
  })

  it('signs with the secrets of the response when they change while it waits', async () => {
    await put('first')
    const reply = fetched('?wait=50')
    await expect.poll(() => world.longPollSlots.size).toBe(1)
    await put('second')
    await publish()
    expect(signers(await reply, all)).toEqual(['second', 'first'])
  })
})

describe('a replaced secret', () => {
  it('is encrypted, and in no response or log line', async () => {
    const secret = 'a-former-secret-battery-staple'
    const replies = [await send({ url, secret }), await send({ url, secret: 'second' })]
    replies.push(await world.call('GET', `/apps/${app}/webhook`, own()))
    expect(replies.map(({ body }) => body)).toEqual(Array(3).fill({ url, hasSecret: true }))
    expect(await stored()).toEqual({ secret: 'second', former: secret })
    for (const text of [JSON.stringify(await row()), log.join('\n')]) expect(text).not.toContain(secret)
  })

  it.each([
    ['an invalid url', () => send({ url: 'http://example.org', secret: 'third' }), 400],
    ['an invalid secret', () => send({ url, secret: 'a b' }), 400],
    [
      'a client without the app',
      () => world.call('PUT', `/apps/${app}/webhook`, { body: { url }, claims: { client_id: world.ids.platform } }),
      404,
    ],
    [
      'a suspended app',
      async () => {
        await world.db.app.update({ where: { id: app }, data: { state: 'suspended' } })
        const reply = await send({ url, secret: 'third' })
        await world.db.app.update({ where: { id: app }, data: { state: 'active' } })
        return reply
      },
      409,
    ],
  ])('stays as it is after a refused request: %s', async (_, request, status) => {
    await put('first')
    await put('second')
    const before = await row()
    expect((await request()).status).toBe(status)
    expect(await row()).toEqual(before)
  })

  it('does not stay when no key decrypts it', async () => {
    await put('first')
    await world.db.app.update({ where: { id: app }, data: { webhookSecret: 'v1.AAAA.AAAA' } })
    await put('second')
    expect(await stored()).toEqual({ secret: 'second', former: null })
  })
})

describe('PUT while the former secret is ended', () => {
  const end = (secret: string) =>
    meanwhile(
      world.db,
      async (tx) => {
        await holdApp(tx, app)
        await tx.app.update({ where: { id: app }, data: noFormer })
      },
      () => put(secret),
    )

  it('leaves it ended when the secret is the same', async () => {
    await put('first')
    await put('second')
    await end('second')
    expect(await row()).toMatchObject(noFormer)
    expect(await stored()).toEqual({ secret: 'second', former: null })
  })

  it('has the secret before as its former one', async () => {
    await put('first')
    await put('second')
    await end('third')
    expect(await stored()).toEqual({ secret: 'third', former: 'second' })
  })
})

describe('PUT while another one replaces the secret', () => {
  const change = (secret: string) =>
    meanwhile(
      world.db,
      async (tx) => {
        await holdApp(tx, app)
        const columns = columnsOfApp(app)
        const [webhookSecret, formerSecret] = [
          world.core.cipher.encrypt('second', columns.secret),
          world.core.cipher.encrypt('first', columns.formerSecret),
        ]
        const formerUntil = new Date(world.core.now() + HOUR * 1_000)
        await tx.app.update({ where: { id: app }, data: { webhookSecret, formerSecret, formerUntil } })
      },
      () => put(secret),
    )

  it('has the other one’s secret as its former one', async () => {
    await put('first')
    await change('third')
    expect(await stored()).toEqual({ secret: 'third', former: 'second' })
  })

  it('keeps the other one’s former secret when both set the same one', async () => {
    await put('first')
    await change('second')
    expect(await stored()).toEqual({ secret: 'second', former: 'first' })
    world.advance(HOUR)
    expect(await stored()).toEqual({ secret: 'second', former: null })
  })

  it('leaves two different secrets that were set, however many run', async () => {
    await put('secret-0')
    const secrets = Array.from({ length: 20 }, (_, n) => `secret-${n}`)
    await Promise.all(secrets.map((secret) => put(secret)))
    const { secret, former } = await stored()
    expect(secrets).toContain(secret)
    expect(secrets).toContain(former)
    expect(former).not.toBe(secret)
  })
})

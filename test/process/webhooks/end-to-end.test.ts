import { describe, expect, it } from 'vitest'
import { command, dataDirectoryWithCluster, send, start } from '../service.ts'
import { secret, startExample } from './example-receiver.ts'

describe('an event', () => {
  it('travels from the platform to the receiver, and is traced in the log by its delivery id', async () => {
    const receiver = await startExample()
    const DATA_DIR = await dataDirectoryWithCluster()
    const env = { DATA_DIR, WEBHOOK_ALLOW: '127.0.0.1', NODE_EXTRA_CA_CERTS: receiver.certificate }
    const service = await start(env)
    const tokenFor = async (...args: string[]) =>
      (await command('token', ['--club', 'provider', ...args], env).ended).stdout.trim()
    const [app, platform] = await Promise.all([
      tokenFor('--member', 'anna', '--client', 'trainer-app'),
      tokenFor('--client', 'platform', '--scope', 'ntf.subscriptions:write ntf.events:write'),
    ])
    const call = async (method: 'GET' | 'POST', path: string, body?: unknown) => {
      const headers = { authorization: `Bearer ${platform}` }
      const reply = await send(service.internalPort, method, `/trpc/${path}`, { headers, body })
      expect(reply).toMatchObject({ status: 200 })
      return reply.body.result.data
    }

    const headers = { host: 'notify.localhost', authorization: `Bearer ${app}` }
    const template = { headers, body: { url: receiver.url, secret } }
    expect(await send(service.port, 'PUT', '/v1/apps/trainer-app/webhook', template)).toMatchObject({ status: 200 })
    const subscription = await call('POST', 'subscriptions.create', { app: 'trainer-app', subscriber: 'riverside' })
    expect(subscription).toMatchObject({ url: receiver.url, hasSecret: true })
    const event = { app: 'trainer-app', type: 'training.moved', id: 'e1', data: { to: '19:30', by: 'Grüße' } }
    expect(await call('POST', 'events.publish', event)).toEqual({ id: 'e1', deliveries: 1 })

    const line = /^[\dT:.-]+Z training\.moved e1 \{"to":"19:30","by":"Grüße"\}$/
    await expect.poll(receiver.events).toEqual([expect.stringMatching(line)])
    const input = encodeURIComponent(JSON.stringify({ event: 'e1' }))
    const deliveries = () => call('GET', `deliveries.list?input=${input}`)
    const delivered = { event: 'e1', subscription: subscription.id, state: 'delivered', attempts: 1, lastStatus: 204 }
    await expect.poll(deliveries).toMatchObject({ items: [delivered], total: 1 })
    const [{ id }] = (await deliveries()).items

    // The log has both ends of the way, but neither secret, url nor data.
    const logged = () =>
      service
        .stdout()
        .split('\n')
        .filter((text) => text.startsWith('{') && text.includes(id))
    await expect.poll(() => logged().length).toBe(2)
    const [published, attempted] = logged().map((text) => JSON.parse(text))
    expect(published).toMatchObject({ app: 'trainer-app', event: 'e1', deliveries: [id] })
    expect(attempted).toMatchObject({
      delivery: id,
      event: 'e1',
      subscription: subscription.id,
      status: 204,
      attempt: 1,
    })
    for (const hidden of [secret, receiver.url, 'Grüße']) expect(service.stdout()).not.toContain(hidden)
    expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
  })
})

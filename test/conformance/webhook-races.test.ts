import { describe, expect, it } from 'vitest'
import type { Transaction } from '../../prisma/client.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { expectRefusal } from '../support/refusal.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld()
const url = 'https://hooks.example.org/in'
const before = { webhookUrl: 'https://before.example', webhookSecret: 'sealed' }

async function mint() {
  const appId = id('app')
  const { team: teamId, provider: providerId } = world.ids
  await world.db.app.create({ data: { id: appId, name: 'App', teamId, providerId, ...before } })
  return appId
}

const put = (app: string, body: object) => world.call('PUT', `/apps/${app}/webhook`, { body })
const template = (app: string) =>
  world.db.app.findUniqueOrThrow({ where: { id: app }, select: { webhookUrl: true, webhookSecret: true } })

const removal = (app: string) => (tx: Transaction) => tx.app.delete({ where: { id: app } })
const suspension = (app: string) => (tx: Transaction) =>
  tx.app.update({ where: { id: app }, data: { state: 'suspended' } })

describe('concurrent PUTs', () => {
  it('leave url and secret of one request', async () => {
    const app = await mint()
    const bodies = Array.from({ length: 20 }, (_, n) => ({ url: `https://example.org/${n}`, secret: `secret-${n}` }))
    const replies = await Promise.all(bodies.map((body) => put(app, body)))
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const { webhookUrl, webhookSecret } = await template(app)
    const secret = world.core.cipher.decrypt(webhookSecret!, `App.webhookSecret:${app}`)
    expect(bodies).toContainEqual({ url: webhookUrl, secret })
  })
})

describe.each([
  ['PUT with a secret', (app: string) => put(app, { url, secret: 's3cret' })],
  ['PUT without a secret', (app: string) => put(app, { url })],
  ['DELETE', (app: string) => world.call('DELETE', `/apps/${app}/webhook`)],
])('%s', (_, request) => {
  it('returns 404 when the app is removed meanwhile', async () => {
    const app = await mint()
    const reply = await meanwhile(world.db, removal(app), () => request(app))
    expectRefusal(reply, 404, 'not_found', 'This app does not exist at this provider.')
    expect(await world.db.app.findUnique({ where: { id: app } })).toBeNull()
  })

  it('returns 409 and changes nothing when the app is suspended meanwhile', async () => {
    const app = await mint()
    const reply = await meanwhile(world.db, suspension(app), () => request(app))
    expectRefusal(reply, 409, 'conflict', 'This app is suspended.', 'app_suspended')
    expect(await template(app)).toEqual(before)
  })

  it('changes the app when its suspension is rolled back', async () => {
    const app = await mint()
    const { status } = await meanwhile(world.db, suspension(app), () => request(app), { undo: true })
    expect(status).toBeLessThan(300)
    expect(await template(app)).not.toEqual(before)
  })
})

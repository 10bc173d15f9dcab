import { expect, it } from 'vitest'
import { callAs, createCore } from '../../routers/core.ts'
import { id } from '../support/tenant.ts'
import { languages } from './verify-snippets.ts'
import { answering, receiver, startWorkers } from './worker-world.ts'

it('a test event arrives signed, with retries, and its log has what was sent and answered', async () => {
  const to = await receiver(answering([500, 204]))
  const { db, cipher, app, now, advance } = await startWorkers()
  const [person, client] = [id('person'), id('client')]
  const { teamId, providerId } = await db.app.findUniqueOrThrow({ where: { id: app } })
  await db.person.create({ data: { id: person, firstName: 'Dora', lastName: 'Dev', email: '' } })
  await db.teamMember.create({ data: { teamId, personId: person, role: 'developer' } })
  await db.client.create({ data: { id: client, name: 'Portal', environment: 'production' } })
  const core = createCore({ db, cipher, brand: 'the service', storageQuotaBytes: 1, now, published: () => advance(0) })
  const scopes = new Set(['dev:read', 'dev:write'])
  const { webhook, deliveries } = callAs(core, { member: person, organisation: providerId, client, scopes }).developer

  await webhook.set({ app, url: to.url(), secret: 's3cret' })
  const { delivery } = await webhook.test({ app })
  const read = () => deliveries.get({ app, id: delivery })
  await expect.poll(read).toMatchObject({ attempts: 1, state: 'pending', answer: 'said' })
  advance(7_000)
  await expect.poll(read).toMatchObject({ attempts: 2, state: 'delivered', test: true })

  expect(to.received).toHaveLength(2)
  const { body, headers } = to.received[1]!
  const sent = { body, headers: headers as Record<string, string>, secret: 's3cret', tolerance: 300 }
  expect(await languages[0]!.verify([sent])).toEqual(['webhook.test'])
  const log = await read()
  expect(log).toMatchObject({ type: 'webhook.test', body, url: to.url(), lastStatus: 204 })
  for (const [name, value] of Object.entries(log.headers)) {
    expect([name, value ?? 'not shown']).toEqual([name, value === null ? 'not shown' : headers[name]])
  }
})

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { routes } from '../../rest-facade/routes.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import { mintAppServer } from '../support/app-server.ts'
import { mintApp, mintOther, readRefusal } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import { createCard, createQuiz, id, putAddress } from '../support/tenant.ts'

const INVALID = { status: 401, code: 'invalid_token', message: 'This token is not valid.' }
const SUSPENDED = { status: 409, code: 'conflict', reason: 'app_suspended', message: 'This app is suspended.' }
const url = 'https://hooks.example.org/a'

const world = useWorld({ auth: {}, passes: () => async () => Buffer.from('a pass') })
let server: Awaited<ReturnType<typeof mintAppServer>>
let entry: { collection: string; key: string }
beforeAll(async () => {
  await createQuiz(world.db, world.ids)
  await createCard(world)
  server = await mintAppServer(world, world.ids.app)
})

beforeEach(async () => {
  await setState('active', { webhookUrl: url })
  entry = { collection: 'c', key: id('k') }
  await world.call('PUT', `/storage/c/${entry.key}`, { body: { value: 1 } })
})

/** Every node has noticed it after 5 s at the latest: it forgets what it knew after 4, and may take one to ask. */
async function setState(state: 'active' | 'suspended', more = {}) {
  await world.db.app.update({ where: { id: world.ids.app }, data: { state, ...more } })
  world.advance(4)
}

/** What the requests below could change. */
const stored = () =>
  Promise.all([
    world.db.app.findMany({ where: { teamId: world.ids.team }, orderBy: { id: 'asc' } }),
    world.db.storageEntry.findMany({ where: { appId: world.ids.app }, orderBy: { key: 'asc' } }),
    world.db.collectionRule.findMany({ where: { appId: world.ids.app } }),
    world.db.quizResult.count({ where: { personId: world.ids.member } }),
  ])

/** The body of each procedure that has one. */
const bodies: Record<string, object> = {
  'storage.put': { value: 2 },
  'storage.batch': { operations: [{ op: 'put', collection: 'c', key: 'batched', value: 2 }] },
  'storage.rules.put': { rule: 'author' },
  'quizzes.submit': { answers: { q1: 'Yes' } },
  'webhook.put': { url },
  'addresses.create': { url, types: null },
  'addresses.update': { url, types: null, state: 'active', secret: 's' },
}

interface Row {
  name: string
  method: string
  section: Section
  path: string
  isOfApp: boolean
}
const rows: Row[] = routes.map(({ name, method, section, meta }) => ({
  name,
  method,
  section,
  path: meta.openapi!.path,
  isOfApp: meta.policy.requires.appItself === 'required',
}))

/** A refusal rejects. Callers share the procedures (one-caller.test.ts). */
async function call({ name, method, section, path, isOfApp }: Row) {
  const address = path
    .replace('{collection}', entry.collection)
    .replace('{key}', entry.key)
    .replace('{quizId}', `quiz-${world.ids.academy}`)
    .replace('{resultId}', `result-${world.ids.academy}`)
    .replace('{id}', world.ids.app)
    .replace('{addressId}', await putAddress(world.core, world.ids.app))
  const sent = { api: section, body: bodies[name], ...(isOfApp && { claims: server.claims }) }
  const { status, body } = await world.call(method, address === '/' ? '' : address, sent)
  if (status < 400) return body
  const { code, reason, message } = body.error
  throw Object.assign(new Error(message), { status, publicCode: code, reason })
}

describe.each(rows)('$name, by the client of a suspended app', (row) => {
  it('gets 401, on notify 409 for what writes, and an answer for what reads; for events 409', async () => {
    const answered = await call(row)
    if (row.name === 'storage.delete') await world.call('PUT', `/storage/c/${entry.key}`, { body: { value: 1 } })
    if (row.name === 'webhook.delete') await setState('active', { webhookUrl: url })
    await setState('suspended')
    const before = await stored()
    if (row.name === 'webhook.get') expect(await call(row)).toEqual(answered)
    else
      expect(await readRefusal(call(row))).toEqual({
        reason: undefined,
        ...(row.section === 'notify' || /^(?:events|addresses)/.test(row.name) ? SUSPENDED : INVALID),
      })
    expect(await stored()).toEqual(before)

    await setState('active')
    await call(row)
  })
})

describe('the client of a suspended app', () => {
  it('changes no other app of its team either, and finds none of another provider', async () => {
    const webhookUrl = 'https://hooks.example.org/before'
    const other = await mintApp(world, { webhookUrl })
    const { app: foreign } = await mintOther(world)
    await setState('suspended')
    for (const [app, refusal] of [
      [other, [409, 'app_suspended']],
      [foreign, [404, undefined]],
      ['none', [404, undefined]],
    ] as const) {
      for (const method of ['PUT', 'DELETE']) {
        const { status, body } = await world.call(method, `/apps/${app}/webhook`, { body: { url } })
        expect([app, method, status, body.error.reason]).toEqual([app, method, ...refusal])
      }
    }
    expect(await world.db.app.findUnique({ where: { id: other } })).toMatchObject({ webhookUrl })
    expect((await world.call('GET', `/apps/${other}/webhook`)).body).toEqual({ url: webhookUrl, hasSecret: false })
  })

  it('uses none of its quota, and meets the other refusals of notify first', async () => {
    await setState('suspended')
    const profile = await world.call('GET', '/me/profile')
    expect([profile.status, profile.headers.ratelimit]).toEqual([401, undefined])
    const put = (claims: Record<string, unknown>) =>
      world.call('PUT', `/apps/${world.ids.app}/webhook`, { body: { url }, claims })
    expect((await put({ scope: 'ntf.apps.webhook:read' })).status).toBe(403)
    expect((await put({ sub: 'nobody' })).status).toBe(404)
  })

  it('is refused also when its app is one of several, and clients of other apps are not', async () => {
    const app = await mintApp(world, { state: 'suspended' })
    const { team } = world.ids
    const client = id('client')
    await world.db.client.create({ data: { id: client, name: 'C', teamId: team, appId: app, environment: 'sandbox' } })
    expect((await world.call('GET', '/me/profile', { claims: { client_id: client } })).status).toBe(401)
    expect((await world.call('GET', '/me/profile')).status).toBe(200)
  })
})

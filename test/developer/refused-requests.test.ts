import { beforeEach, expect, it } from 'vitest'
import { approve, refuse } from '../../routers/developer/reviews/decide.ts'
import { readRefusal } from '../support/platform.ts'
import { eventsRead, profileRead, redirect, teamWorld } from './team-world.ts'

const here = teamWorld()
const reason = 'Say what you store.'
const purpose = { [profileRead]: 'It greets the member.' }
const asOwner = () => here.as(here.owner)
const now = () => new Date(here.world.core.now())

let client: string
beforeEach(async () => {
  const sandbox = await here.sandbox()
  client = (await asOwner().clients.requestProduction({ client: sandbox.id, purpose, name: 'Greeter' })).id
})

const refuseClient = (at = now()) => refuse(here.world.db, { kind: 'client', id: client }, reason, at)
const read = () => asOwner().clients.get({ client })

it('a refused request stays with the reason, beside what was asked for', async () => {
  const at = now()
  await refuseClient(at)
  expect(await read()).toMatchObject({
    state: 'refused',
    name: 'Greeter',
    purpose,
    redirectUris: [redirect],
    requestedAt: null,
    refusal: { reason, at: Math.floor(at.getTime() / 1000), asked: {} },
  })
  const { items } = await asOwner().clients.list({ team: here.world.ids.team, limit: 100 })
  expect(items.find(({ id }) => id === client)).toMatchObject({ state: 'refused' })
})

it('a refused request is changed and sent again, with the same id', async () => {
  await refuseClient()
  const other = 'https://other.example/callback'
  const again = await asOwner().clients.requestProduction({
    client,
    name: 'Welcome',
    purpose: { [profileRead]: 'It shows the name.' },
    redirectUris: [other],
  })
  expect(again).toMatchObject({
    id: client,
    state: 'requested',
    name: 'Welcome',
    redirectUris: [other],
    refusal: null,
    purpose: { [profileRead]: 'It shows the name.' },
  })
  expect(again.requestedAt).not.toBeNull()
  const { version } = await read()
  const { version: appVersion } = await asOwner().apps.get({ app: here.world.ids.app })
  await approve(here.world.db, { kind: 'client', id: client, version, appVersion }, now())
  expect(await read()).toMatchObject({ state: 'active', refusal: null })
})

it('a refused request that is sent again without a purpose is refused, and stays', async () => {
  await refuseClient()
  const before = await read()
  const wrong = asOwner().clients.requestProduction({ client, purpose: {} })
  expect((await readRefusal(wrong)).status).toBe(400)
  const byColleague = here.as(here.colleague).clients.requestProduction({ client, purpose })
  expect((await readRefusal(byColleague)).status).toBe(403)
  expect(await read()).toEqual(before)
})

it('a request that waits or was approved cannot be sent again', async () => {
  const again = () => asOwner().clients.requestProduction({ client, purpose })
  const waits = await read()
  expect((await readRefusal(again())).status).toBe(409)
  expect(await read()).toEqual(waits)
  await here.world.db.client.update({ where: { id: client }, data: { state: 'active', requestedAt: null } })
  expect((await readRefusal(again())).status).toBe(409)
})

it('refused changes of a client in use stay until the team changes it', async () => {
  const used = await here.production()
  const get = () => asOwner().clients.get({ client: used })
  const update = async (more: object) =>
    asOwner().clients.update({ client: used, version: (await get()).version, ...more })
  const asked = { scopes: [profileRead, eventsRead], purpose: { [eventsRead]: 'It lists events.' } }
  await update(asked)
  await refuse(here.world.db, { kind: 'client', id: used }, reason, now())
  const refused = await get()
  expect(refused).toMatchObject({ state: 'active', scopes: [profileRead], wanted: null })
  expect(refused.refusal).toMatchObject({ reason, asked: { scopes: asked.scopes, purpose: asked.purpose } })
  await update({ ...asked, purpose: { [eventsRead]: 'It shows the next training.' } })
  expect(await get()).toMatchObject({ wanted: { scopes: asked.scopes }, refusal: null })
})

it('a refused name of an app stays until the team changes the app', async () => {
  const { ids, db } = here.world
  await asOwner().apps.update({ app: ids.app, name: 'Bank' })
  await refuse(db, { kind: 'app', id: ids.app }, reason, now())
  const refused = await asOwner().apps.get({ app: ids.app })
  expect(refused.refusal).toMatchObject({ reason, asked: { name: 'Bank' } })
  expect(refused.name).not.toBe('Bank')
  await asOwner().apps.update({ app: ids.app, description: 'Trains.' })
  expect((await asOwner().apps.get({ app: ids.app })).refusal).toBeNull()
})

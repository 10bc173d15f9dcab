import { expect, it } from 'vitest'
import { approve, refuse } from '../../routers/developer/reviews/decide.ts'
import { profileRead, redirect, teamWorld } from './team-world.ts'

const here = teamWorld()
const as = () => here.as(here.owner)
const stored = (id: string) => here.world.db.client.findUniqueOrThrow({ where: { id } })
const lastEntry = async () => (await as().audit.list({ team: here.world.ids.team })).items[0]

it('a sandbox client asks for sign-ins on devices only where it was registered so', async () => {
  const { id, devices } = await here.sandbox()
  expect(devices).toBe(false)
  expect(await as().clients.update({ client: id, version: 0, devices: true })).toMatchObject({
    devices: true,
    wanted: null,
  })
  expect(await lastEntry()).toMatchObject({ action: 'client.update', before: { devices: false } })
})

it('a client without redirect URIs is registered for devices alone', async () => {
  await expect(here.sandbox({ redirectUris: [] })).rejects.toThrow(
    'A client needs a redirect URI, unless it signs in on devices.',
  )
  const { id } = await here.sandbox({ redirectUris: [], devices: true })
  await expect(as().clients.update({ client: id, version: 0, devices: false })).rejects.toThrow('needs a redirect URI')
  expect(await stored(id)).toMatchObject({ devices: true, version: 0 })
  const changes = { devices: false, redirectUris: [redirect] }
  expect(await as().clients.update({ client: id, version: 0, ...changes })).toMatchObject(changes)
})

it('a production client takes over the sign-in on devices, or leaves it out', async () => {
  const { id: client } = await here.sandbox({ redirectUris: [], devices: true })
  const purpose = { [profileRead]: 'It greets the member.' }
  expect(await as().clients.requestProduction({ client, purpose })).toMatchObject({ devices: true, redirectUris: [] })
  const without = { client, purpose, devices: false }
  await expect(as().clients.requestProduction(without)).rejects.toThrow('needs a redirect URI')
  expect(await as().clients.requestProduction({ ...without, redirectUris: [redirect] })).toMatchObject({
    devices: false,
  })
})

it('for a client that members use, the sign-in on devices waits for approval, and ends at once', async () => {
  const client = await here.production()
  const update = (version: number, changes: object) => as().clients.update({ client, version, ...changes })
  expect(await update(0, { devices: true })).toMatchObject({ devices: false, wanted: { devices: true } })
  await expect(update(1, { redirectUris: [] })).rejects.toThrow('needs a redirect URI')
  const now = new Date(here.world.now() * 1000)
  const { version: appVersion } = await here.world.db.app.findUniqueOrThrow({ where: { id: here.world.ids.app } })
  await approve(here.world.db, { kind: 'client', id: client, version: 1, appVersion }, now)
  expect(await stored(client)).toMatchObject({ devices: true, wanted: null })
  expect(await update(2, { redirectUris: [] })).toMatchObject({ redirectUris: [] })
  expect(await update(3, { redirectUris: [redirect], devices: false })).toMatchObject({
    devices: false,
    redirectUris: [],
    wanted: { redirectUris: [redirect] },
  })
})

it('a refused sign-in on devices stays beside the reason', async () => {
  const client = await here.production()
  await as().clients.update({ client, version: 0, devices: true })
  await refuse(here.world.db, { kind: 'client', id: client }, 'There is no device.', new Date())
  const read = await as().clients.get({ client })
  expect(read).toMatchObject({ devices: false, wanted: null, refusal: { asked: { devices: true } } })
})

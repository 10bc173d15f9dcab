import { describe, expect, it } from 'vitest'
import { encodePng, makePixels } from '../support/pictures.ts'
import { readRefusal } from '../support/platform.ts'
import { id } from '../support/tenant.ts'
import { profileRead, redirect, teamWorld } from './team-world.ts'

const here = teamWorld()

const as = () => here.as(here.owner)
const settings = { name: 'C', type: 'web' as const, redirectUris: [redirect], scopes: [profileRead] }
const full = { status: 409, message: 'A team can have at most 200 clients, 1 MiB of text and 8 MiB of logos.' }

/** A refused change, after which everything is as it was. */
async function expectFull(change: () => Promise<unknown>) {
  const before = await here.stored()
  expect(await readRefusal(change())).toMatchObject(full)
  expect(await here.stored()).toEqual(before)
}

/** Clients of the team without an app. */
async function addClients(number: number, more: object = {}) {
  const { db, ids } = here.world
  const all = Array.from({ length: number }, () => id('client'))
  await db.client.createMany({
    data: all.map((one) => ({
      id: one,
      name: 'C',
      teamId: ids.team,
      environment: 'sandbox' as const,
      testOnly: true,
      ...more,
    })),
  })
  return { all, remove: () => db.client.deleteMany({ where: { id: { in: all } } }) }
}

describe('a team', () => {
  it('with 200 clients gets no other, and one more in place of one', async () => {
    const { db, ids } = here.world
    const sandbox = await here.sandbox()
    const others = await addClients(200 - (await db.client.count({ where: { teamId: ids.team } })))
    await expectFull(() => as().clients.create({ ...settings, app: ids.app }))
    const purpose = { [profileRead]: 'Greeting' }
    await expectFull(() => as().clients.requestProduction({ client: sandbox.id, purpose }))
    await as().clients.remove({ client: others.all[0]!, confirm: others.all[0]! })
    await as().clients.create({ ...settings, app: ids.app })
    await others.remove()
  })

  it('with 1 MiB of texts adds none, and may take some away', async () => {
    const { db, ids } = here.world
    const sandbox = await here.sandbox()
    const long = (at: number) => `https://app.example/${at}/`.padEnd(2_048, 'x')
    const redirectUris = Array.from({ length: 50 }, (_, at) => long(at))
    const others = await addClients(11, { redirectUris })
    await expectFull(() => as().clients.create({ ...settings, app: ids.app }))
    await expectFull(() => as().clients.requestProduction({ client: sandbox.id, purpose: { [profileRead]: 'x' } }))
    await expectFull(() => as().clients.update({ client: sandbox.id, version: 0, redirectUris: [redirect, long(0)] }))
    await expectFull(() => as().apps.update({ app: ids.app, description: 'd'.repeat(500) }))
    const [fat] = others.all
    const fewer = await as().clients.update({ client: fat!, version: 0, redirectUris: redirectUris.slice(0, 2) })
    expect(fewer.redirectUris).toHaveLength(2)
    expect(await db.client.count({ where: { id: sandbox.id, version: 0 } })).toBe(1)
    await as().apps.update({ app: ids.app, description: 'd'.repeat(500) })
    await others.remove()
  })

  it('with 8 MiB of logos adds none before one is taken away', async () => {
    const { db, ids } = here.world
    const picture = encodePng(makePixels(8)).toString('base64')
    const large = id('app')
    await db.$executeRaw`
      INSERT INTO "App" (id, name, "teamId", "providerId", logo)
      SELECT ${large} || at, 'A', ${ids.team}, ${ids.provider}, decode(repeat('00', 256 * 1024), 'hex')
      FROM generate_series(1, 32) AS at`
    const stored = () => db.$queryRaw`
      SELECT id, md5(logo) AS logo, md5("wantedLogo") AS waits, version, (SELECT count(*) FROM "AuditEntry" WHERE "AuditEntry"."teamId" = "App"."teamId") AS entries
      FROM "App" WHERE "teamId" = ${ids.team} ORDER BY id`
    const before = await stored()
    expect(await readRefusal(as().apps.setLogo({ app: ids.app, picture }))).toMatchObject(full)
    expect(await stored()).toEqual(before)
    await as().apps.removeLogo({ app: `${large}1` })
    expect((await as().apps.setLogo({ app: ids.app, picture })).wanted?.logo).toMatch(/^[\da-f]{32}$/)
  })
})

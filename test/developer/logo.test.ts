import { PNG } from 'pngjs'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Prisma } from '../../prisma/generated/client.ts'
import { approve, refuse } from '../../routers/developer/reviews/decide.ts'
import { encodeJpeg, encodePng, makePixels } from '../support/pictures.ts'
import { readRefusal } from '../support/platform.ts'
import { teamWorld } from './team-world.ts'

const here = teamWorld()
let app: string
beforeAll(async () => {
  app = here.world.ids.app
})
beforeEach(async () => {
  const { db } = here.world
  await db.client.deleteMany({ where: { appId: app } })
  await db.app.update({ where: { id: app }, data: { logo: null, ...nothingWaits, version: 0 }, select: { id: true } })
})

const nothingWaits = { wanted: Prisma.DbNull, wantedLogo: null }
const own = makePixels(16)
const picture = encodePng(own).toString('base64')
const other = encodePng(makePixels(8)).toString('base64')
const apps = () => here.as(here.owner).apps
const row = () => here.world.db.app.findUniqueOrThrow({ where: { id: app } })
const latest = async () => (await here.as(here.owner).audit.list({ team: here.world.ids.team })).items[0]!
const subject = async () => ({ kind: 'app' as const, id: app, version: (await row()).version })

describe('a logo', () => {
  it('of an app that no member uses is in force at once, in the audit log by its version', async () => {
    const { logo, version, wanted } = await apps().setLogo({ app, picture })
    expect([version, wanted]).toEqual([1, null])
    expect(PNG.sync.read(Buffer.from((await row()).logo!)).data.equals(own.data)).toBe(true)
    const { team } = here.world.ids
    expect((await here.as(here.owner).teams.get({ team })).apps.find(({ id }) => id === app)?.logo).toBe(logo)
    const entry = await latest()
    expect(entry).toMatchObject({ action: 'app.update', target: app, by: { id: here.owner } })
    expect([entry.before, entry.after]).toEqual([{ logo: null }, { logo }])
  })

  it('may be a JPEG, and is replaced and taken away', async () => {
    const first = await apps().setLogo({ app, picture: encodeJpeg(own).toString('base64') })
    const second = await apps().setLogo({ app, picture, version: first.version })
    expect(second.logo).not.toBe(first.logo)
    expect(await apps().update({ app, description: 'New' })).toMatchObject({ logo: second.logo })
    expect(await apps().removeLogo({ app })).toMatchObject({ logo: null, wanted: null })
    expect((await row()).logo).toBeNull()
  })

  it('of an app that members use waits, and is in force once it is approved', async () => {
    const { logo: former } = await apps().setLogo({ app, picture: other })
    await here.production()
    await apps().update({ app, name: 'Other' })
    const changed = await apps().setLogo({ app, picture })
    expect(changed).toMatchObject({ logo: former, name: 'App', wanted: { name: 'Other' } })
    expect((await latest()).after).toEqual({ wanted: { name: 'Other', logo: changed.wanted!.logo } })
    const { logo, wantedLogo } = await row()
    expect([PNG.sync.read(Buffer.from(logo!)).width, PNG.sync.read(Buffer.from(wantedLogo!)).width]).toEqual([8, 16])
    await approve(here.world.db, await subject(), new Date())
    expect(await row()).toMatchObject({ name: 'Other', logo: wantedLogo, wantedLogo: null, wanted: null })
    expect((await latest()).after).toEqual({ name: 'Other', logo: changed.wanted!.logo })
  })

  it('that waits ends when it is refused, replaced by the present one, or taken away', async () => {
    await apps().setLogo({ app, picture: other })
    const { logo } = await row()
    await here.production()
    const present = { logo, wantedLogo: null, wanted: null }
    await apps().setLogo({ app, picture })
    await refuse(here.world.db, await subject(), 'It is the logo of a bank.', new Date())
    expect(await row()).toMatchObject(present)
    await apps().setLogo({ app, picture })
    expect(await apps().setLogo({ app, picture: other })).toMatchObject({ wanted: null })
    expect(await row()).toMatchObject(present)
    await apps().setLogo({ app, picture })
    await apps().removeLogo({ app })
    expect(await row()).toMatchObject({ ...present, logo: null })
  })
})

describe('a logo is refused, and nothing changes:', () => {
  const asStranger = () => here.as(here.stranger).apps
  it.each<[string, number, string, () => Promise<unknown>]>([
    ['for the app of others', 404, 'This app does not exist.', () => asStranger().setLogo({ app, picture })],
    ['for the app of others, taken away', 404, 'This app does not exist.', () => asStranger().removeLogo({ app })],
    ['for an app that has changed', 409, 'This has been changed', () => apps().setLogo({ app, picture, version: 7 })],
    [
      'for an app that has changed, undecoded',
      409,
      'This has been changed',
      () => apps().setLogo({ app, picture: 'AAAA', version: 7 }),
    ],
    [
      'for a version beyond the column',
      409,
      'This has been changed',
      () => apps().setLogo({ app, picture, version: 3_000_000_000 }),
    ],
    ['taken away once the app has changed', 409, 'This has been changed', () => apps().removeLogo({ app, version: 7 })],
    ['not in base64', 400, 'picture is a PNG or JPEG in base64.', () => apps().setLogo({ app, picture: '<svg/>' })],
  ])('%s', async (_, status, message, call) => {
    await apps().setLogo({ app, picture: other })
    const before = await here.stored()
    const refused = await readRefusal(call())
    expect([refused.status, refused.message]).toEqual([status, expect.stringContaining(message)])
    expect(await here.stored()).toEqual(before)
  })
})

import { expect, it } from 'vitest'
import { startMailsIn } from '../../routers/developer/mails/procedures.ts'
import { MAILS_OF_TEAM, MAILS_TO_ADDRESS } from '../../routers/developer/mails/queue.ts'
import { approve, refuse } from '../../routers/developer/reviews/decide.ts'
import { inviteToTeam } from '../../server/admin/teams.ts'
import { readRefusal } from '../support/platform.ts'
import { id } from '../support/tenant.ts'
import { profileRead, teamWorld } from './team-world.ts'

const here = teamWorld()
const team = () => here.world.ids.team
const purpose = { [profileRead]: 'It greets the member.' }
const at = () => new Date(here.world.now() * 1000)
const anyEmail = () => `${id('new')}@example.org`

/** The team's mails since the last call, in the order of their kinds. */
const queued = async () => {
  const where = { teamId: team() }
  const rows = await here.world.db.mail.findMany({ where, orderBy: [{ kind: 'asc' }, { email: 'asc' }] })
  await here.world.db.mail.deleteMany({ where })
  return rows.map(({ kind: mailType, personId, email, language, about }) => ({
    kind: mailType,
    to: personId ?? email,
    language,
    about,
  }))
}

it('a request for production is mailed to the owners: received, refused with its reason, approved', async () => {
  const { db } = here.world
  const sandbox = await here.sandbox({ name: 'Trainer' })
  const { id: client } = await here.as(here.owner).clients.requestProduction({ client: sandbox.id, purpose })
  const to = here.owner
  const about = { name: 'Trainer', client, isNew: true }
  expect(await queued()).toEqual([{ kind: 'requestReceived', to, language: 'en', about }])

  await refuse(db, { kind: 'client', id: client }, 'Who are you?', at())
  expect(await queued()).toEqual([
    { kind: 'requestRefused', to, language: 'en', about: { ...about, reason: 'Who are you?' } },
  ])

  const again = await here.as(here.owner).clients.requestProduction({ client, purpose })
  const { version: appVersion } = await db.app.findUniqueOrThrow({ where: { id: here.world.ids.app } })
  await approve(db, { kind: 'client', id: client, version: again.version, appVersion }, at())
  expect((await queued()).map(({ kind: mailType }) => mailType)).toEqual(['requestReceived', 'requestApproved'])
})

it('changes that wait are mailed once, not at each further change', async () => {
  const client = await here.production()
  await queued()
  const update = async (redirectUris: string[]) => {
    const { version } = await here.as(here.owner).clients.get({ client })
    return here.as(here.colleague).clients.update({ client, version, redirectUris })
  }
  await update(['https://app.example/callback', 'https://one.example/'])
  await update(['https://app.example/callback', 'https://two.example/'])
  expect(await queued()).toEqual([
    { kind: 'requestReceived', to: here.owner, language: 'en', about: { name: 'Sandbox', client } },
  ])
  const { app } = here.world.ids
  const changed = await here.as(here.owner).apps.update({ app, name: 'Renamed' })
  await refuse(here.world.db, { kind: 'app', id: app, version: changed.version }, 'No.', at())
  expect(await queued()).toMatchObject([
    { kind: 'requestReceived', about: { name: 'App', app } },
    { kind: 'requestRefused', about: { name: 'App', app, isNew: false, reason: 'No.' } },
  ])
})

it('a refused change queues no mail', async () => {
  const sandbox = await here.sandbox()
  await queued()
  const request = here.as(here.owner).clients.requestProduction({ client: sandbox.id, purpose: {} })
  expect(await readRefusal(request)).toMatchObject({ status: 400 })
  expect(
    await readRefusal(here.as(here.owner).people.invite({ team: team(), email: 'none', role: 'owner' })),
  ).toMatchObject({ status: 400 })
  expect(await queued()).toEqual([])
})

it('kinds that a person has switched off are not queued for them, and others keep their language', async () => {
  const { as, owner, colleague } = here
  const mails = as(owner).mails
  await startMailsIn(here.world.db, owner, 'de')
  await startMailsIn(here.world.db, owner, 'en')
  expect(await mails.get()).toEqual({ language: 'de', off: [] })
  expect(await as(colleague).mails.get()).toEqual({ language: 'en', off: [] })
  const off = ['requestReceived', 'requestReceived'] as const
  expect(await mails.set({ language: 'de', off: [...off] })).toEqual({ language: 'de', off: ['requestReceived'] })
  const sandbox = await here.sandbox()
  const { id: client } = await as(owner).clients.requestProduction({ client: sandbox.id, purpose })
  await refuse(here.world.db, { kind: 'client', id: client }, 'No.', at())
  expect(await queued()).toMatchObject([{ kind: 'requestRefused', to: owner, language: 'de' }])
  for (const input of [{ language: 'fr', off: [] }, { language: 'de', off: ['all'] }, { language: 'de' }]) {
    expect(await readRefusal(mails.set(input as never))).toMatchObject({ status: 400 })
  }
  expect(await mails.get()).toEqual({ language: 'de', off: ['requestReceived'] })
  await mails.set({ language: 'en', off: [] })
})

it('an invitation is mailed to its address, in the language of whom it invites, else of who invites', async () => {
  const { as, owner, stranger, world } = here
  await as(owner).mails.set({ language: 'de', off: [] })
  const email = anyEmail()
  const made = await as(owner).people.invite({ team: team(), email: email.toUpperCase(), role: 'developer' })
  expect(made).toMatchObject({ email, mailed: true })
  await as(stranger).mails.set({ language: 'en', off: [] })
  const known = `${stranger}@example.org`
  await as(owner).people.invite({ team: team(), email: known, role: 'developer' })
  await inviteToTeam(world.db, { team: team(), email: `z${email}`, role: 'owner' }, at())
  expect(await queued()).toEqual(
    [
      { kind: 'invitation', to: email, language: 'de', about: { name: '' } },
      { kind: 'invitation', to: known, language: 'en', about: { name: '' } },
      { kind: 'invitation', to: `z${email}`, language: 'en', about: { name: '' } },
    ].toSorted((a, b) => (a.to < b.to ? -1 : 1)),
  )
  await as(stranger).mails.set({ language: 'en', off: ['invitation'] })
  expect(await as(owner).people.invite({ team: team(), email: known, role: 'developer' })).toMatchObject({
    mailed: false,
  })
  expect(await queued()).toEqual([])
})

it('an invitation is not mailed to a person who has switched it off, in whichever letters their address is', async () => {
  const { as, owner, stranger, world } = here
  await as(stranger).mails.set({ language: 'en', off: ['invitation'] })
  const invites = [
    (email: string) => as(owner).people.invite({ team: team(), email, role: 'developer' }),
    (email: string) => inviteToTeam(world.db, { team: team(), email, role: 'developer' }, at()),
  ]
  for (const invite of invites) {
    const email = `jürgen-${anyEmail()}`
    await world.db.person.update({ where: { id: stranger }, data: { email: email.toUpperCase() } })
    expect(await invite(email)).toMatchObject({ mailed: false })
  }
  await world.db.person.update({ where: { id: stranger }, data: { email: `${stranger}@example.org` } })
  expect(await queued()).toEqual([])
})

it('a team mails 20 invitations in 24 hours, three of them to an address, and withdrawals do not change that', async () => {
  const invite = (email: string) => here.as(here.owner).people.invite({ team: team(), email, role: 'developer' })
  const withdrawn = async (email: string) => {
    const { id: invitation, mailed } = await invite(email)
    await here.as(here.owner).people.withdraw({ team: team(), invitation })
    return mailed
  }
  await queued()
  const email = anyEmail()
  const toOne: boolean[] = []
  for (let n = 0; n <= MAILS_TO_ADDRESS; n++) toOne.push(await withdrawn(email))
  expect(toOne).toEqual([true, true, true, false])
  const toMany: boolean[] = []
  for (let n = MAILS_TO_ADDRESS; n <= MAILS_OF_TEAM; n++) toMany.push(await withdrawn(anyEmail()))
  expect(toMany.filter(Boolean)).toHaveLength(MAILS_OF_TEAM - MAILS_TO_ADDRESS)
  expect(toMany.at(-1)).toBe(false)
  // The limit is about strangers: the invitation itself is made.
  expect(await invite(anyEmail())).toMatchObject({ mailed: false })
  await here.world.db.mail.updateMany({
    where: { teamId: team() },
    data: { createdAt: new Date(at().getTime() - 86_400_000) },
  })
  expect(await invite(anyEmail())).toMatchObject({ mailed: true })
})

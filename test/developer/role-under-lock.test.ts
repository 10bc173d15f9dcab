import { beforeAll, describe, expect, it } from 'vitest'
import { procedures } from '../../routers/index.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { encodePng, makePixels } from '../support/pictures.ts'
import { readRefusal } from '../support/platform.ts'
import { profileRead, redirect, teamWorld } from './team-world.ts'

const here = teamWorld()
let client: { id: string; version: number }
let asked: { id: string; version: number }
let secret: string
let invitation: string
let address: string
beforeAll(async () => {
  const { db, ids } = here.world
  await db.teamMember.update({ where: { of: author() }, data: { role: 'owner' } })
  await db.app.update({ where: { id: ids.app }, data: { webhookUrl: 'https://hooks.example/' }, select: { id: true } })
  client = await here.sandbox()
  address = (await here.as(here.owner).addresses.create({ app: app(), ...hook, environment: 'production' })).id
  const purpose = { [profileRead]: 'Greeting' }
  asked = await here.as(here.owner).clients.requestProduction({ client: client.id, purpose })
  secret = (await here.as(here.owner).clients.secrets.create({ client: client.id })).id
  invitation = (await here.as(here.owner).people.invite({ team: ids.team, email: 'one@example.org', role: 'owner' })).id
})

const hook = { url: 'https://hooks.example/in', types: null }
const author = () => ({ teamId: here.world.ids.team, personId: here.colleague })
const team = () => here.world.ids.team
const app = () => here.world.ids.app
const api = () => here.as(here.colleague)

/** Every change that people of a team can make. Retries of deliveries change no setting. */
const changes: Record<string, () => Promise<unknown>> = {
  'people.invite': () => api().people.invite({ team: team(), email: 'two@example.org', role: 'owner' }),
  'people.withdraw': () => api().people.withdraw({ team: team(), invitation }),
  'people.setRole': () => api().people.setRole({ team: team(), person: here.owner, role: 'developer' }),
  'people.remove': () => api().people.remove({ team: team(), person: here.owner }),
  'apps.create': () => api().apps.create({ team: team(), name: 'New', provider: here.world.ids.provider }),
  'apps.update': () => api().apps.update({ app: app(), name: 'New' }),
  'apps.setLogo': () => api().apps.setLogo({ app: app(), picture: encodePng(makePixels(8)).toString('base64') }),
  'apps.removeLogo': () => api().apps.removeLogo({ app: app() }),
  'apps.withdrawChanges': () => api().apps.withdrawChanges({ app: app(), version: 0 }),
  'clients.create': () =>
    api().clients.create({
      app: app(),
      name: 'New',
      type: 'web',
      redirectUris: [redirect],
      scopes: [profileRead],
    }),
  'clients.update': () => api().clients.update({ client: client.id, version: client.version, name: 'New' }),
  'clients.requestProduction': () =>
    api().clients.requestProduction({ client: client.id, purpose: { [profileRead]: 'Greeting' } }),
  'clients.withdrawRequest': () => api().clients.withdrawRequest({ client: asked.id, version: asked.version }),
  'clients.setAuthentication': () =>
    api().clients.setAuthentication({ client: client.id, version: client.version, authentication: 'client_secret' }),
  'clients.secrets.create': () => api().clients.secrets.create({ client: client.id }),
  'clients.secrets.remove': () => api().clients.secrets.remove({ client: client.id, secret }),
  'clients.remove': () => api().clients.remove({ client: client.id, confirm: client.id }),
  'addresses.create': () => api().addresses.create({ app: app(), ...hook, environment: 'sandbox' }),
  'addresses.update': () => api().addresses.update({ app: app(), id: address, state: 'paused' }),
  'addresses.remove': () => api().addresses.remove({ app: app(), id: address }),
  'apps.remove': () => api().apps.remove({ app: app(), confirm: 'App' }),
  'apps.restore': () => api().apps.restore({ app: app() }),
  'teams.remove': () => api().teams.remove({ team: team(), confirm: 'Team' }),
  'teams.restore': () => api().teams.restore({ team: team() }),
  'testClub.reset': () => api().testClub.reset({ team: team() }),
  'testClub.change': () => api().testClub.change({ team: team(), member: 'none', change: 'left' }),
  'testClub.withdraw': () => api().testClub.withdraw({ team: team(), member: 'none', client: 'none' }),
  'testClub.review': () => api().testClub.review({ team: team(), result: 'none', correct: true }),
  'rules.set': () => api().rules.set({ app: app(), collection: 'c', rule: 'author' }),
  'webhook.set': () => api().webhook.set({ app: app(), url: 'https://other.example/' }),
  'webhook.remove': () => api().webhook.remove({ app: app() }),
  'webhook.endFormerSecret': () => api().webhook.endFormerSecret({ app: app() }),
  'webhook.test': () => api().webhook.test({ app: app() }),
}
const byOwners = [
  ...['people.invite', 'people.withdraw', 'people.setRole', 'people.remove'],
  ...[
    'clients.requestProduction',
    'clients.withdrawRequest',
    'apps.remove',
    'apps.restore',
    'teams.remove',
    'teams.restore',
  ],
]

it('each change of a team has a row', () => {
  const mutations = Object.entries(procedures)
    .filter(([path, { _def }]) => path.startsWith('developer.') && _def.type === 'mutation')
    .map(([path]) => path.slice('developer.'.length))
  // The invited and those who ask for a team are in none yet, mails are of a person, and entries of a test club no setting.
  const others = [
    'deliveries.retry',
    'deliveries.resend',
    'deliveries.retryFailed',
    'invitations.accept',
    'invitations.decline',
    'mails.set',
    'teams.create',
    'teams.request',
    'teams.withdrawRequest',
    'data.put',
    'data.remove',
  ]
  expect([...Object.keys(changes), ...others].sort()).toEqual(mutations.sort())
})

/** Makes a change while its author's membership changes; then gives the membership back. */
async function refusedWhile(name: string, membership: { role: 'developer' } | null) {
  const { db } = here.world
  const where = { of: author() }
  const all = async () => ({
    ...(await here.stored()),
    events: await db.publishedEvent.count({ where: { appId: app() } }),
  })
  const before = await all()
  const row = await db.teamMember.findUniqueOrThrow({ where })
  const refusal = await meanwhile(
    db,
    async (tx) => {
      await tx.$queryRaw`SELECT FROM "Team" WHERE id = ${team()} FOR NO KEY UPDATE`
      if (membership) await tx.teamMember.update({ where, data: membership })
      else await tx.teamMember.delete({ where })
    },
    () => readRefusal(changes[name]!()),
  )
  await db.teamMember.upsert({ where, create: row, update: row })
  expect(await all()).toEqual(before)
  return refusal
}

describe.each(Object.keys(changes))('%s', (name) => {
  it('returns 404 and changes nothing when its author leaves the team meanwhile', async () => {
    expect(await refusedWhile(name, null)).toMatchObject({
      status: 404,
      message: expect.stringMatching(/does not exist/),
    })
  })
})

describe.each(byOwners)('%s', (name) => {
  it('returns 403 and changes nothing when its author is demoted meanwhile', async () => {
    const message = 'Only an owner of the team can do this.'
    expect(await refusedWhile(name, { role: 'developer' })).toMatchObject({ status: 403, message })
  })
})

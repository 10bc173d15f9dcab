import { beforeAll, describe, expect, it } from 'vitest'
import { table } from '../support/markdown-table.ts'
import { readRefusal } from '../support/platform.ts'
import { id } from '../support/tenant.ts'
import { eventsRead, profileRead, redirect, teamWorld } from './team-world.ts'

/** What a team's people are refused. A message that ends in … is a prefix; of several sentences each has its line. */
const rows = table<'Call' | 'Status' | 'Message'>(`
  | Call | Status | Message |
  |---|---|---|
  | the team of others | 404 | This team does not exist. |
  | a team with an id that cannot be stored | 404 | This team does not exist. |
  | the audit log of others | 404 | This team does not exist. |
  | the facts of the team of others | 404 | This team does not exist. |
  | the people of others | 404 | This team does not exist. |
  | a person of others | 404 | This team does not exist. |
  | a stranger among the people | 404 | This person is not in this team. |
  | the apps of others | 404 | This team does not exist. |
  | the app of others | 404 | This app does not exist. |
  | the providers for the team of others | 404 | This team does not exist. |
  | the clients of others | 404 | This team does not exist. |
  | the client of others | 404 | This client does not exist. |
  | the client of others in production | 404 | This client does not exist. |
  | a client of the platform | 404 | This client does not exist. |
  | an invitation to no address | 400 | email must be an e-mail address, such as name@example.org. |
  | an invitation to a colleague | 409 | This person is already in this team. |
  | a role for a stranger | 404 | This person is not in this team. |
  | the removal of a stranger | 404 | This person is not in this team. |
  | the withdrawal of no invitation | 404 | This invitation does not exist. |
  | the last owner as a developer | 409 | A team needs at least one owner. |
  | the removal of the last owner | 409 | A team needs at least one owner. |
  | an app of no provider | 404 | This provider does not exist. |
  | an app of a club | 404 | This provider does not exist. |
  | an app with a name that hides letters | 400 | The name of the app has U+200B, which cannot be seen or acts on the text around it. |
  | a homepage that is a script | 400 | The homepage of the app is an https:// address … |
  | a description that turns letters around | 400 | The description of the app has U+202E, which cannot be seen or acts on the text around it. |
  | a client without a redirect and a scope | 400 | A client needs a redirect URI, unless it signs in on devices.  A client needs a scope. |
  | a client with a name that hides letters | 400 | The name of the client has U+200B, which cannot be seen or acts on the text around it. |
  | a scope above the level | 400 | lms.me.quizzes:write is only for teams with the Developer level. |
  | a redirect without TLS for a client that exists | 400 | http://app.example/ cannot be a redirect URI: … |
  | a scope above the level for a client that exists | 400 | lms.me.quizzes:write is only for teams with the Developer level. |
  | a change of what somebody else has changed | 409 | This has been changed in the meantime. Read it again. |
  | a change of an app that somebody else has changed | 409 | This has been changed in the meantime. Read it again. |
  | production without a purpose | 400 | Say in 1 to 1000 characters, without control characters, what svc.me.profile:read … |
  | a purpose with an escape sequence | 400 | Say in 1 to 1000 characters, without control characters, what svc.me.profile:read … |
  | a purpose of 1,001 characters | 400 | Say in 1 to 1000 characters, without control characters, what svc.me.profile:read … |
  | production with a redirect to localhost | 400 | http://localhost/ cannot be a redirect URI: localhost is for development and sandbox clients only. |
  | production of a production client | 409 | Only the sandbox client of an app can be requested for production. |
  | another scope in production without a purpose | 400 | Say in 1 to 1000 characters, without control characters, what svc.me.events:read … |
  | the removal of a client with consents in force | 409 | 1 consent is in force and would end. Confirm with the client's id. |
  | the removal of a client without consents with another id | 409 | Confirm with the client's id. |
  | the removal of a production client with another id | 409 | Confirm with the client's id. |
  | the removal of a client with another id | 409 | 1 consent is in force and would end. Confirm with the client's id. |
  | the 51st app | 409 | A team can have at most 50 apps. |
  | the 21st client of an app | 409 | An app can have at most 20 clients. |
  | the 101st person | 409 | A team can have at most 100 people and invitations. |
`)

const here = teamWorld()
let sandbox: { id: string; version: number }
let production: { id: string; version: number }
let hobby: { id: string; version: number }
let consented: string
let theirs: string
/** A team that has as much as it may. */
const full = id('full')

beforeAll(async () => {
  const { world, as, owner, stranger, strangers } = here
  const { db, ids } = world
  sandbox = await here.sandbox()
  const client = await here.production()
  production = await db.client.findUniqueOrThrow({ where: { id: client } })
  theirs = (await as(stranger).apps.create({ team: strangers, name: 'Theirs', provider: ids.provider })).id
  hobby = await as(stranger).clients.create({ ...settings, app: theirs })
  consented = (await here.sandbox()).id
  await db.consent.create({
    data: { id: id('grant'), personId: ids.member, organisationId: ids.club, clientId: consented, scopes: [] },
  })
  const times = <Row>(count: number, row: (i: number) => Row) => Array.from({ length: count }, (_, i) => row(i))
  await db.team.create({ data: { id: full, name: 'Full', level: 'developer' } })
  await db.teamMember.create({ data: { teamId: full, personId: owner, role: 'owner' } })
  await db.app.createMany({
    data: times(50, (i) => ({ id: `${full}-${i}`, name: 'A', teamId: full, providerId: ids.provider })),
  })
  await db.client.createMany({
    data: times(20, (i) => ({
      id: `${full}-${i}`,
      name: 'C',
      teamId: full,
      appId: `${full}-1`,
      environment: 'sandbox',
    })),
  })
  await db.teamInvitation.createMany({
    data: times(99, (i) => ({
      id: `${full}-${i}`,
      teamId: full,
      email: `${i}@example.org`,
      role: 'developer',
      expiresAt: new Date(Date.now() + 3_600_000),
    })),
  })
})

const settings = { name: 'C', type: 'web' as const, redirectUris: [redirect], scopes: [profileRead] }
const hidden = 'Trainer\u200b'

const calls: Record<string, () => Promise<unknown>> = {
  'the team of others': () => as().teams.get({ team: here.strangers }),
  'a team with an id that cannot be stored': () => as().teams.get({ team: 'a\0b' }),
  'the audit log of others': () => as().audit.list({ team: here.strangers }),
  'the facts of the team of others': () => as().teams.summary({ team: here.strangers }),
  'the people of others': () => as().people.list({ team: here.strangers }),
  'a person of others': () => as().people.get({ team: here.strangers, person: here.stranger }),
  'a stranger among the people': () => as().people.get({ team: team(), person: here.stranger }),
  'the apps of others': () => as().apps.list({ team: here.strangers }),
  'the app of others': () => asStranger().apps.get({ app: app() }),
  'the providers for the team of others': () => as().apps.providers({ team: here.strangers }),
  'the clients of others': () => as().clients.list({ team: here.strangers }),
  'the client of others': () => asStranger().clients.get({ client: sandbox.id }),
  'the client of others in production': () => asStranger().clients.requestProduction(asked()),
  'a client of the platform': () => as().clients.update({ client: here.world.ids.platform, version: 0, name: 'Mine' }),

  'an invitation to no address': () => as().people.invite({ ...guest(), email: 'nobody' }),
  'an invitation to a colleague': () =>
    as().people.invite({ ...guest(), email: `${here.colleague.toUpperCase()}@example.org` }),
  'a role for a stranger': () => as().people.setRole(makeRole(here.stranger, 'owner')),
  'the removal of a stranger': () => as().people.remove({ team: team(), person: here.stranger }),
  'the withdrawal of no invitation': () => as().people.withdraw({ team: team(), invitation: 'none' }),
  'the last owner as a developer': () => as().people.setRole(makeRole(here.owner, 'developer')),
  'the removal of the last owner': () => as().people.remove({ team: team(), person: here.owner }),

  'an app of no provider': () => as().apps.create({ team: team(), name: 'A', provider: 'none' }),
  'an app of a club': () => as().apps.create({ team: team(), name: 'A', provider: here.world.ids.club }),
  'an app with a name that hides letters': () => as().apps.update({ app: app(), name: hidden }),
  'a homepage that is a script': () => as().apps.update({ app: app(), homepage: 'javascript:alert(1)' }),
  'a description that turns letters around': () => as().apps.update({ app: app(), description: 'a\u202eb' }),

  'a client without a redirect and a scope': () => create({ redirectUris: [], scopes: [] }),
  'a client with a name that hides letters': () => create({ name: hidden }),
  'a scope above the level': () =>
    asStranger().clients.create({ ...settings, app: theirs, scopes: ['lms.me.quizzes:write'] }),
  'a redirect without TLS for a client that exists': () =>
    as().clients.update({ client: sandbox.id, version: 0, redirectUris: ['http://app.example/'] }),
  'a scope above the level for a client that exists': () =>
    asStranger().clients.update({ client: hobby.id, version: 0, scopes: ['lms.me.quizzes:write'] }),
  'a change of what somebody else has changed': () =>
    as().clients.update({ client: sandbox.id, version: 7, name: 'Overwritten' }),
  'a change of an app that somebody else has changed': () => as().apps.update({ app: app(), version: 7, name: 'N' }),

  'production without a purpose': () => as().clients.requestProduction({ client: sandbox.id, purpose: {} }),
  'a purpose with an escape sequence': () => requestFor('It \u001b[2Kreads'),
  'a purpose of 1,001 characters': () => requestFor('x'.repeat(1_001)),
  'production with a redirect to localhost': () =>
    as().clients.requestProduction({ ...asked(), redirectUris: ['http://localhost/'] }),
  'production of a production client': () => as().clients.requestProduction({ ...asked(), client: production.id }),
  'another scope in production without a purpose': () =>
    as().clients.update({ client: production.id, version: production.version, scopes: [profileRead, eventsRead] }),
  'the removal of a client with consents in force': () => as().clients.remove({ client: consented, confirm: 'no' }),
  'the removal of a client without consents with another id': () =>
    as().clients.remove({ client: sandbox.id, confirm: consented }),
  'the removal of a production client with another id': () =>
    as().clients.remove({ client: production.id, confirm: sandbox.id }),
  'the removal of a client with another id': () => as().clients.remove({ client: consented, confirm: sandbox.id }),

  'the 51st app': () => as().apps.create({ team: full, name: 'A', provider: provider() }),
  'the 21st client of an app': () => create({ app: `${full}-1` }),
  'the 101st person': () => as().people.invite({ ...guest(), team: full }),
}

const as = () => here.as(here.owner)
const asStranger = () => here.as(here.stranger)
const team = () => here.world.ids.team
const app = () => here.world.ids.app
const provider = () => here.world.ids.provider
const asked = () => ({ client: sandbox.id, purpose: { [profileRead]: 'Greeting' } })
const requestFor = (purpose: string) =>
  as().clients.requestProduction({ client: sandbox.id, purpose: { [profileRead]: purpose } })
const guest = () => ({ team: team(), email: 'guest@example.org', role: 'developer' as const })
const makeRole = (person: string, role: 'owner' | 'developer') => ({ team: team(), person, role })
const create = (more: object) => as().clients.create({ ...settings, app: app(), ...more })

describe.each(rows)('$Call', ({ Call, Status, Message }) => {
  it(`is refused with ${Status}, and nothing changes`, async () => {
    const before = await here.stored()
    const refused = await readRefusal(calls[Call]!())
    expect(refused.status).toBe(Number(Status))
    const message = refused.message.replaceAll('\n', '  ')
    expect(Message.endsWith('…') ? message.slice(0, Message.length - 2) : message).toBe(Message.replace(/ ?…$/, ''))
    expect(await here.stored()).toEqual(before)
  })
})

import { describe, expect, it } from 'vitest'
import { requestApproval } from '../../routers/approvals/approvals.ts'
import { requestForChild } from '../../routers/approvals/child-requests.ts'
import { decide } from '../../routers/approvals/decide.ts'
import { decideForChild } from '../../routers/approvals/decide-for-child.ts'
import { approve, refuse } from '../../routers/developer/reviews/decide.ts'
import type { ReviewAct, ReviewState } from '../../routers/developer/reviews/transitions.ts'
import { transitions } from '../../routers/developer/reviews/transitions.ts'
import { approveTeam, refuseTeam } from '../../routers/developer/teams/requests.ts'
import { consentTo, mintMember } from '../support/app-server.ts'
import { table } from '../support/markdown-table.ts'
import { encodePng, makePixels } from '../support/pictures.ts'
import { mintApp, readRefusal } from '../support/platform.ts'
import { id } from '../support/tenant.ts'
import { profileRead, teamWorld } from './team-world.ts'

/** What an act makes of a review: `-` is forbidden, and changes nothing. */
const rows = table<'covers' | 'state' | ReviewAct>(`
| covers            | state     | request   | approve  | refuse  | withdraw  |
|-------------------|-----------|-----------|----------|---------|-----------|
| client            | unasked   | requested | -        | -       | -         |
| client            | requested | -         | approved | refused | unasked   |
| client            | approved  | -         | -        | -       | -         |
| client            | refused   | requested | -        | -       | -         |
| changes of client | approved  | requested | -        | -       | -         |
| changes of client | requested | requested | approved | refused | approved  |
| changes of client | refused   | requested | -        | -       | -         |
| changes of app    | approved  | requested | -        | -       | -         |
| changes of app    | requested | requested | approved | refused | approved  |
| changes of app    | refused   | requested | -        | -       | -         |
| team              | unasked   | requested | -        | -       | -         |
| team              | requested | -         | unasked  | refused | unasked   |
| team              | refused   | requested | -        | -       | -         |
| club              | unasked   | requested | approved | refused | -         |
| club              | requested | -         | approved | refused | -         |
| club              | approved  | -         | approved | -       | withdrawn |
| club              | refused   | -         | approved | refused | -         |
| club              | withdrawn | -         | approved | refused | withdrawn |
| child             | unasked   | requested | -        | -       | withdrawn |
| child             | requested | requested | approved | refused | -         |
| child             | approved  | requested | -        | -       | withdrawn |
| child             | refused   | -         | approved | -       | -         |
| child             | withdrawn | -         | approved | -       | -         |
`)
const ACTS: ReviewAct[] = ['request', 'approve', 'refuse', 'withdraw']

/** The acts that lead to a state from the first one. */
const paths: Record<string, Partial<Record<ReviewState, ReviewAct[]>>> = {
  client: { unasked: [], requested: ['request'], approved: ['request', 'approve'], refused: ['request', 'refuse'] },
  changes: { approved: [], requested: ['request'], refused: ['request', 'refuse'] },
  team: { unasked: [], requested: ['request'], refused: ['request', 'refuse'] },
  club: {
    unasked: [],
    requested: ['request'],
    approved: ['approve'],
    refused: ['refuse'],
    withdrawn: ['approve', 'withdraw'],
  },
  child: {
    unasked: [],
    requested: ['request'],
    approved: ['request', 'approve'],
    refused: ['request', 'refuse'],
    withdrawn: ['withdraw'],
  },
}

interface Subject {
  act: (act: ReviewAct) => Promise<unknown>
  state: () => Promise<ReviewState>
}

const here = teamWorld({ teamSignup: 'request' })
const owner = () => here.as(here.owner)
const db = () => here.world.db
const now = () => new Date(here.world.core.now())
const reason = 'Not yet.'
let count = 0

const stateOfChanges = ({ wanted, refusal }: { wanted: unknown; refusal: unknown }): ReviewState =>
  wanted ? 'requested' : refusal ? 'refused' : 'approved'

async function decideOn(kind: 'client' | 'app', id: string, app: string, act: 'approve' | 'refuse') {
  if (act === 'refuse') return refuse(db(), { kind, id }, reason, now())
  const { version: appVersion } = await db().app.findUniqueOrThrow({ where: { id: app } })
  const version = kind === 'app' ? appVersion : (await db().client.findUniqueOrThrow({ where: { id } })).version
  return approve(db(), { kind, id, version, ...(kind === 'client' && { appVersion }) }, now())
}

const withdraw = async (client: string) => {
  const { version } = await db().client.findUniqueOrThrow({ where: { id: client } })
  return owner().clients.withdrawRequest({ client, version })
}
const withdrawChanges = async (app: string) => {
  const { version } = await db().app.findUniqueOrThrow({ where: { id: app } })
  return owner().apps.withdrawChanges({ app, version })
}

/** A sandbox client, for which production is requested. */
async function newClient(app: string): Promise<Subject> {
  const sandbox = await here.sandbox({ app })
  let id = sandbox.id
  return {
    async act(act) {
      if (act === 'withdraw') {
        const withdrawn = await withdraw(id)
        id = sandbox.id
        return withdrawn
      }
      if (act !== 'request') return decideOn('client', id, app, act)
      const purpose = { [profileRead]: 'It greets the member.' }
      id = (await owner().clients.requestProduction({ client: id, purpose })).id
    },
    async state() {
      const { environment, state } = await owner().clients.get({ client: id })
      if (environment === 'sandbox') return 'unasked'
      return state === 'active' ? 'approved' : state
    },
  }
}

async function changesOfClient(app: string): Promise<Subject> {
  const client = await here.production({ app })
  const read = () => db().client.findUniqueOrThrow({ where: { id: client } })
  return {
    async act(act) {
      if (act === 'approve' || act === 'refuse') return decideOn('client', client, app, act)
      if (act === 'withdraw') return withdraw(client)
      const { version } = await read()
      const redirectUris = ['https://app.example/callback', `https://n${++count}.example/`]
      return owner().clients.update({ client, version, redirectUris })
    },
    state: async () => stateOfChanges(await read()),
  }
}

async function changesOfApp(app: string): Promise<Subject> {
  await here.production({ app })
  return {
    async act(act) {
      if (act === 'approve' || act === 'refuse') return decideOn('app', app, app, act)
      return act === 'withdraw' ? withdrawChanges(app) : owner().apps.update({ app, name: `App ${++count}` })
    },
    state: async () => stateOfChanges(await db().app.findUniqueOrThrow({ where: { id: app } })),
  }
}

async function clubApproval(app: string): Promise<Subject> {
  const { club } = here.world.ids
  const states = { approve: 'approved', refuse: 'refused', withdraw: 'withdrawn' } as const
  return {
    async act(act) {
      if (act === 'request') return requestApproval(db(), { club, app }, here.world.core.now())
      const decision = { club, app, state: states[act], reason: act === 'refuse' ? `${reason} ${++count}` : null }
      return decide(db(), decision, { administrator: null, at: now() })
    },
    state: async () => (await db().clubApproval.findFirst({ where: { appId: app } }))?.state ?? 'unasked',
  }
}

/** A child who uses the app already, and asks for one scope more each time. */
async function childRequest(app: string): Promise<Subject> {
  const { club } = here.world.ids
  const [child, person] = [await mintMember(here.world), id('guardian')]
  await db().person.create({ data: { id: person, firstName: 'G', lastName: 'G', email: '' } })
  await db().guardian.create({ data: { childId: child, guardianId: person } })
  const client = await here.production({ app })
  await consentTo(here.world, { client, member: child, club })
  const of = { child, club, app }
  const states = { approve: 'approved', refuse: 'refused', withdraw: 'withdrawn' } as const
  const find = () => db().childRequest.findFirst({ where: { childId: child } })
  return {
    async act(act) {
      const asker = { person: child, language: 'en' as const }
      if (act === 'request') return requestForChild(db(), of, [`scope ${++count}`], here.world.core.now(), asker)
      const decision = { ...of, state: states[act], reason: null, version: (await find())?.version ?? 0 }
      return decideForChild(db(), decision, { person, as: 'guardian', at: now(), ages: new Map([['', 16]]) })
    },
    state: async () => (await find())?.state ?? 'unasked',
  }
}

/** Each has a person of its own. */
async function newTeam(): Promise<Subject> {
  const person = id('founder')
  await db().person.create({ data: { id: person, firstName: 'Jo', lastName: 'Sea', email: `${person}@example.org` } })
  founders.push(person)
  const { teams } = here.as(person)
  const find = () => db().teamRequest.findUnique({ where: { personId: person } })
  return {
    async act(act) {
      if (act === 'request') return teams.request({ name: 'Sailors', purpose: 'Results.' })
      if (act === 'withdraw') return teams.withdrawRequest()
      const asked = { id: 'none', version: 1, ...(await find()) }
      return act === 'approve' ? approveTeam(db(), asked, now()) : refuseTeam(db(), asked, reason, now())
    },
    state: async () => (await find())?.state ?? 'unasked',
  }
}
const founders: string[] = []

const subjects: Record<string, (app: string) => Promise<Subject>> = {
  client: newClient,
  'changes of client': changesOfClient,
  'changes of app': changesOfApp,
  team: newTeam,
  club: clubApproval,
  child: childRequest,
}

const stored = async () => {
  const { team } = here.world.ids
  return {
    ...(await here.stored()),
    approvals: await db().clubApproval.findMany({ where: { app: { teamId: team } }, orderBy: { id: 'asc' } }),
    children: await db().childRequest.findMany({ where: { app: { teamId: team } }, orderBy: { id: 'asc' } }),
    consents: await db().consent.findMany({ where: { client: { teamId: team } }, orderBy: { id: 'asc' } }),
    mails: await db().mail.count({ where: { OR: [{ teamId: team }, { personId: { in: founders } }] } }),
    founded: await db().teamMember.count({ where: { personId: { in: founders } } }),
    teamRequests: await db().teamRequest.findMany({ where: { personId: { in: founders } }, orderBy: { id: 'asc' } }),
  }
}

const mintSubject = async (covers: string) =>
  subjects[covers]!(await mintApp(here.world, { teamId: here.world.ids.team }))

describe.each(rows)('a review of $covers that is $state', ({ covers, state, ...acts }) => {
  it.each(ACTS.filter((act) => acts[act] !== ''))('becomes by the act %s what the table says', async (act) => {
    const subject = await mintSubject(covers)
    for (const one of paths[covers.split(' ')[0]!]![state as ReviewState]!) await subject.act(one)
    expect(await subject.state()).toBe(state)

    const before = await stored()
    const done = await subject.act(act).then(
      () => true,
      () => false,
    )
    if (acts[act] === '-') expect({ state: await subject.state(), ...(await stored()) }).toEqual({ state, ...before })
    else expect([done, await subject.state()]).toEqual([true, acts[act]])
  })
})

describe('a pending review', () => {
  it.each(['client', 'changes of client', 'changes of app', 'team', 'child'])(
    'of %s is decided on once, by one of two who may',
    async (covers) => {
      const subject = await mintSubject(covers)
      await subject.act('request')
      const done = await Promise.allSettled([subject.act('approve'), subject.act('refuse')])
      expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      const approved = covers === 'team' ? 'unasked' : 'approved'
      expect(await subject.state()).toBe(done[0].status === 'fulfilled' ? approved : 'refused')
    },
  )
})

describe('a withdrawal', () => {
  it.each(['client', 'changes of client', 'changes of app'])(
    'of %s and a decision: one of the two is done',
    async (covers) => {
      for (const act of ['approve', 'refuse'] as const) {
        const subject = await mintSubject(covers)
        await subject.act('request')
        const done = await Promise.allSettled([subject.act('withdraw'), subject.act(act)])
        expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
        const withdrawn = covers === 'client' ? 'unasked' : 'approved'
        const decided = act === 'approve' ? 'approved' : 'refused'
        expect(await subject.state()).toBe(done[0].status === 'fulfilled' ? withdrawn : decided)
      }
    },
  )

  it('is in the audit log, keeps what members use, and removes a client that was never approved', async () => {
    const app = await mintApp(here.world, { teamId: here.world.ids.team })
    const client = await here.production({ app })
    const before = await owner().clients.get({ client })
    const redirectUris = [...before.redirectUris, 'https://withdrawn.example/']
    const { version } = await owner().clients.update({ client, version: before.version, redirectUris })
    expect(await owner().clients.withdrawRequest({ client, version })).toEqual({ removed: false })
    expect(await owner().clients.get({ client })).toMatchObject({ redirectUris: before.redirectUris, wanted: null })
    const find = { where: { action: 'client.withdraw', target: client } }
    expect(await db().auditEntry.findMany(find)).toMatchObject([{ before: { wanted: { redirectUris } } }])

    const sandbox = await here.sandbox({ app })
    const purpose = { [profileRead]: 'It greets the member.' }
    const asked = await owner().clients.requestProduction({ client: sandbox.id, purpose, scopes: [profileRead] })
    expect(asked.scopes).toEqual([profileRead])
    expect(await owner().clients.withdrawRequest({ client: asked.id, version: asked.version })).toEqual({
      removed: true,
    })
    expect(await db().client.count({ where: { id: { in: [asked.id, sandbox.id] } } })).toBe(1)
  })

  it('of an app’s changes is in the audit log and keeps what members see, as does setting that again', async () => {
    const app = await mintApp(here.world, { teamId: here.world.ids.team })
    const before = await owner().apps.update({ app, description: 'In force' })
    await here.production({ app })
    const picture = encodePng(makePixels(8)).toString('base64')
    await owner().apps.update({ app, name: 'Other', homepage: 'https://other.example/' })
    const { version, wanted } = await owner().apps.setLogo({ app, picture })
    expect(Object.keys(wanted ?? {}).sort()).toEqual(['homepage', 'logo', 'name'])
    const withdrawn = await owner().apps.withdrawChanges({ app, version })
    expect(withdrawn).toEqual({ ...before, version: version + 1 })
    expect(await owner().apps.get({ app })).toEqual(withdrawn)
    expect(await db().app.findUniqueOrThrow({ where: { id: app } })).toMatchObject({ wantedLogo: null })
    const find = { where: { action: 'app.withdraw', target: app } }
    expect(await db().auditEntry.findMany(find)).toMatchObject([{ personId: here.owner, before: { wanted } }])

    await owner().apps.update({ app, name: 'Other' })
    expect(await owner().apps.update({ app, name: before.name })).toMatchObject({ name: before.name, wanted: null })
  })

  it('of an app’s changes that are not pending, of another version, or by a stranger is refused, and nothing changes', async () => {
    const app = await mintApp(here.world, { teamId: here.world.ids.team })
    await here.production({ app })
    const { version: idle } = await owner().apps.get({ app })
    const idleBefore = await here.stored()
    expect(await readRefusal(owner().apps.withdrawChanges({ app, version: idle }))).toMatchObject({ status: 409 })
    expect(await here.stored()).toEqual(idleBefore)

    const { version } = await owner().apps.update({ app, name: 'Other' })
    const stored = await here.stored()
    const calls = [
      owner().apps.withdrawChanges({ app, version: version - 1 }),
      here.as(here.stranger).apps.withdrawChanges({ app, version }),
      owner().apps.withdrawChanges({ app: 'none', version }),
    ]
    const refusals = await Promise.all(calls.map(readRefusal))
    expect(refusals.map(({ status }) => status)).toEqual([409, 404, 404])
    expect(await here.stored()).toEqual(stored)
    expect(await here.as(here.colleague).apps.withdrawChanges({ app, version })).toMatchObject({ wanted: null })
  })

  it('of a new client by a developer, of another version, or by a stranger is refused, and nothing changes', async () => {
    const app = await mintApp(here.world, { teamId: here.world.ids.team })
    const sandbox = await here.sandbox({ app })
    const purpose = { [profileRead]: 'It greets the member.' }
    const { id: client, version } = await owner().clients.requestProduction({ client: sandbox.id, purpose })
    const stored = await here.stored()
    const calls = [
      here.as(here.colleague).clients.withdrawRequest({ client, version }),
      owner().clients.withdrawRequest({ client, version: version + 1 }),
      owner().clients.withdrawRequest({ client: sandbox.id, version: sandbox.version }),
      here.as(here.stranger).clients.withdrawRequest({ client, version }),
    ]
    const refusals = await Promise.all(calls.map(readRefusal))
    expect(refusals.map(({ status }) => status)).toEqual([403, 409, 409, 404])
    expect(await here.stored()).toEqual(stored)
  })
})

it('the table of the service says the same', () => {
  const own = Object.fromEntries(
    rows.map(({ covers, state, ...acts }) => [
      `${covers.split(' ')[0]} ${state}`,
      Object.fromEntries(ACTS.filter((act) => !['', '-'].includes(acts[act])).map((act) => [act, acts[act]])),
    ]),
  )
  const ofService = Object.entries(transitions).flatMap(([covers, states]) =>
    Object.entries(states).map(([state, next]) => [`${covers} ${state}`, next] as const),
  )
  expect(Object.fromEntries(ofService)).toEqual(own)
})

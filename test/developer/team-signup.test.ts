import { describe, expect, it } from 'vitest'
import { approveTeam, listTeamRequests, refuseTeam } from '../../routers/developer/teams/requests.ts'
import type { TeamSignup } from '../../routers/kernel/team-signup.ts'
import { readRefusal } from '../support/platform.ts'
import { startedAround } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { startTeamWorld } from './team-world.ts'

const started = (teamSignup: TeamSignup) => startedAround(() => startTeamWorld({ teamSignup }))
const worlds = { open: started('open'), request: started('request'), closed: started('closed') }
const { open, request } = worlds
const now = () => new Date(request.world.core.now())

/** A member without a team. */
async function newcomer({ world, as }: typeof open) {
  const person = id('newcomer')
  const data = { id: person, firstName: 'Jo', lastName: 'Sea', email: `${person}@example.org` }
  await world.db.person.create({ data })
  return { person, email: data.email, teams: as(person).teams }
}

/** All that a person's attempts could have changed. */
async function stored({ world: { db } }: typeof open, person: string) {
  const where = { people: { some: { personId: person } } }
  return {
    teams: await db.team.findMany({
      where,
      include: { people: true, audit: { orderBy: { id: 'asc' } } },
      orderBy: { id: 'asc' },
    }),
    requests: await db.teamRequest.findMany({ where: { personId: person } }),
    mails: await db.mail.findMany({ where: { personId: person }, orderBy: { createdAt: 'asc' } }),
  }
}

describe('with TEAM_SIGNUP=open, a person', () => {
  it('creates a Hobby team and is its owner, which its audit log says', async () => {
    const { person, teams } = await newcomer(open)
    expect(await teams.signup()).toEqual({ mode: 'open', request: null })
    const { id: team } = await teams.create({ name: '  Sailors ' })
    expect((await teams.list()).items).toEqual([
      { id: team, name: 'Sailors', level: 'hobby', role: 'owner', endsAt: null },
    ])
    const { items } = await open.as(person).audit.list({ team })
    expect(items.map(({ action, after }) => [action, after]).reverse()).toEqual([
      ['team.create', { name: 'Sailors', level: 'hobby' }],
      ['person.join', { role: 'owner' }],
    ])
  })

  it('who creates eight teams at once, from several sessions, owns three', async () => {
    const { person, teams } = await newcomer(open)
    const names = Array.from({ length: 8 }, (_, i) => `Team ${i}`)
    const done = await Promise.allSettled(names.map((name) => teams.create({ name })))
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    const before = await stored(open, person)
    expect(before.teams).toHaveLength(3)
    expect(await readRefusal(teams.create({ name: 'Another' }))).toMatchObject({
      status: 409,
      reason: 'too_many_teams',
    })
    expect(await stored(open, person)).toEqual(before)
  })

  it.each([
    ['', 'The name of the team must be 1 to 100 characters on one line.'],
    ['a'.repeat(101), 'The name of the team must be 1 to 100 characters on one line.'],
    ['a\nb', 'The name of the team must be 1 to 100 characters on one line.'],
    ['a\u202eb', 'The name of the team has U+202E, which cannot be seen or acts on the text around it.'],
  ])('gets no team with the name %j', async (name, message) => {
    const { person, teams } = await newcomer(open)
    expect(await readRefusal(teams.create({ name }))).toMatchObject({ status: 400, message })
    expect(await stored(open, person)).toEqual({ teams: [], requests: [], mails: [] })
  })

  it('who does not exist gets 404', async () => {
    const unknown = id('unknown')
    expect(await readRefusal(open.as(unknown).teams.create({ name: 'Sailors' }))).toMatchObject({ status: 404 })
    expect((await stored(open, unknown)).teams).toEqual([])
  })
})

it.each([
  ['open', 'request'],
  ['request', 'create'],
  ['closed', 'create'],
  ['closed', 'request'],
] as const)('with TEAM_SIGNUP=%s, teams.%s is 403 and changes nothing', async (mode, procedure) => {
  const { person, teams } = await newcomer(worlds[mode])
  expect((await teams.signup()).mode).toBe(mode)
  const call = teams[procedure]({ name: 'Sailors', purpose: 'Results.' })
  expect(await readRefusal(call)).toMatchObject({
    status: 403,
    message: 'Teams cannot be created in this way here.',
  })
  expect(await stored(worlds[mode], person)).toEqual({ teams: [], requests: [], mails: [] })
})

describe('with TEAM_SIGNUP=request, a request', () => {
  const asked = { name: 'Sailors', purpose: 'Results of our regattas.' }

  it('is pending until the operator approves it, which makes the person the owner of a Hobby team', async () => {
    const { person, email, teams } = await newcomer(request)
    const made = await teams.request(asked)
    expect(made).toMatchObject({ ...asked, state: 'requested', reason: null, refusedAt: null })
    expect((await teams.list()).items).toEqual([])
    const waiting = await listTeamRequests(request.world.db)
    expect(waiting.filter(({ personId }) => personId === person)).toMatchObject([
      { id: made.id, version: 1, ...asked, person: { email } },
    ])
    await approveTeam(request.world.db, { id: made.id, version: 1 }, now())
    expect(await teams.signup()).toEqual({ mode: 'request', request: null })
    const { teams: founded, mails } = await stored(request, person)
    expect(founded).toMatchObject([
      {
        id: made.id,
        name: 'Sailors',
        level: 'hobby',
        people: [{ personId: person, role: 'owner' }],
        audit: [
          { action: 'team.create', personId: null },
          { action: 'person.join', personId: null, target: person },
        ],
      },
    ])
    expect(mails.map(({ kind, teamId, about }) => [kind, teamId, about])).toEqual([
      ['requestReceived', null, { name: 'Sailors', isTeam: true }],
      ['requestApproved', made.id, { name: 'Sailors', isTeam: true }],
    ])
  })

  it('that is refused has its reason, and is sent again with another text, which the operator reads first', async () => {
    const { person, teams } = await newcomer(request)
    const { db } = request.world
    const { id: first } = await teams.request(asked)
    await refuseTeam(db, { id: first, version: 1 }, 'For which clubs?', now())
    const { request: refused } = await teams.signup()
    expect(refused).toMatchObject({ ...asked, state: 'refused', reason: 'For which clubs?' })
    expect(refused!.refusedAt).toBeGreaterThan(0)
    const again = { name: 'Sailors', purpose: 'Results of Riverside.' }
    expect(await teams.request(again)).toMatchObject({ ...again, state: 'requested', reason: null, refusedAt: null })
    const before = await stored(request, person)
    await expect(approveTeam(db, { id: first, version: 1 }, now())).rejects.toThrow(
      'has now version 3'.replace('has now', 'now has'),
    )
    expect(await stored(request, person)).toEqual(before)
    await approveTeam(db, { id: first, version: 3 }, now())
    expect((await stored(request, person)).mails.map(({ kind }) => kind)).toEqual([
      'requestReceived',
      'requestRefused',
      'requestReceived',
      'requestApproved',
    ])
  })

  it('is one of a person, however many are sent at once, and is withdrawn by them alone', async () => {
    const { person, teams } = await newcomer(request)
    const done = await Promise.allSettled(Array.from({ length: 8 }, () => teams.request(asked)))
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const before = await stored(request, person)
    expect([before.requests.length, before.mails.length]).toEqual([1, 1])
    expect(await readRefusal(teams.request(asked))).toMatchObject({ status: 409, reason: 'team_request_pending' })
    const other = await newcomer(request)
    expect(await readRefusal(other.teams.withdrawRequest())).toMatchObject({ status: 404 })
    expect(await stored(request, person)).toEqual(before)
    await teams.withdrawRequest()
    expect((await stored(request, person)).requests).toEqual([])
    await expect(approveTeam(request.world.db, { id: before.requests[0]!.id, version: 1 }, now())).rejects.toThrow(
      'is not pending',
    )
    expect((await stored(request, person)).teams).toEqual([])
  })

  it('of somebody who owns three teams by then is refused by the limit, and stays', async () => {
    const { person, teams } = await newcomer(request)
    const { db } = request.world
    const { id: asks } = await teams.request(asked)
    for (const team of [id('t1'), id('t2'), id('t3')]) {
      await db.team.create({ data: { id: team, name: team, level: 'hobby' } })
      await db.teamMember.create({ data: { teamId: team, personId: person, role: 'owner' } })
    }
    const before = await stored(request, person)
    await expect(approveTeam(db, { id: asks, version: 1 }, now())).rejects.toThrow('at most 3 teams')
    expect(await readRefusal(teams.request(asked))).toMatchObject({ reason: 'too_many_teams' })
    expect(await stored(request, person)).toEqual(before)
  })

  it.each([
    ['is empty', ''],
    ['has a control character', 'a\u0000b'],
    ['is longer than 1000 characters', 'a'.repeat(1001)],
    ['is white space', '   '],
  ])('is refused with a purpose that %s', async (_fault, purpose) => {
    const { person, teams } = await newcomer(request)
    expect(await readRefusal(teams.request({ name: 'Sailors', purpose }))).toMatchObject({
      status: 400,
      message: 'Say in 1 to 1000 characters, without control characters, what the team is for.',
    })
    expect(await stored(request, person)).toEqual({ teams: [], requests: [], mails: [] })
  })

  it('is mailed about only as the person wants', async () => {
    const { person, teams } = await newcomer(request)
    await request.as(person).mails.set({ language: 'de', off: ['requestReceived'] })
    const { id: asks } = await teams.request(asked)
    await refuseTeam(request.world.db, { id: asks }, 'No.', now())
    expect((await stored(request, person)).mails).toMatchObject([
      { kind: 'requestRefused', language: 'de', teamId: null },
    ])
  })
})

it('the database refuses a second request of a person, and a refusal without a reason', async () => {
  const { person, teams } = await newcomer(request)
  await teams.request({ name: 'Sailors', purpose: 'Results.' })
  const before = await stored(request, person)
  const row = {
    id: id('second'),
    personId: person,
    name: 'N',
    purpose: 'P',
    state: 'requested' as const,
    requestedAt: now(),
  }
  const { teamRequest } = request.world.db
  await expect(teamRequest.create({ data: row })).rejects.toThrow('Unique constraint')
  const change = (data: object) => teamRequest.update({ where: { personId: person }, data })
  for (const wrong of [{ state: 'refused' }, { reason: 'No.' }, { name: '' }, { purpose: 'a'.repeat(1001) }]) {
    await expect(change(wrong)).rejects.toThrow(/check constraint/)
  }
  expect(await stored(request, person)).toEqual(before)
})

import { beforeEach, describe, expect, it } from 'vitest'
import { holdApproval, requestApproval } from '../../routers/approvals/approvals.ts'
import { appsOfChildren, requestForChild } from '../../routers/approvals/child-requests.ts'
import { decide } from '../../routers/approvals/decide.ts'
import { decideForChild } from '../../routers/approvals/decide-for-child.ts'
import { endLeft } from '../../routers/approvals/end-consents.ts'
import { CONSENT_MS } from '../../routers/kernel/access.ts'
import { addCopies, addTokens, refusingMore } from '../oauth/more-consents.ts'
import { consentTo, mintMember } from '../support/app-server.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { asPlatform, mintApp, readRefusal } from '../support/platform.ts'
import { refusing } from '../support/refusing.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld()
let app: string
let client: string
beforeEach(async () => {
  app = await mintApp(world)
  client = await mintClient()
})

async function mintClient() {
  const data = { id: id('client'), name: 'C', teamId: world.ids.team, appId: app, environment: 'production' as const }
  return (await world.db.client.create({ data })).id
}

const approvals = () => asPlatform(world).directory.approvals
const set = (decision: object) =>
  approvals().set({ club: world.ids.club, app, ...decision } as Parameters<ReturnType<typeof approvals>['set']>[0])
const row = () => world.db.clubApproval.findFirst({ where: { appId: app } })
const entries = () =>
  world.db.auditEntry.findMany({
    where: { target: app },
    orderBy: { id: 'asc' },
    select: { action: true, teamId: true, personId: true, clientId: true, after: true },
  })
const inForce = () =>
  world.db.consent.count({ where: { client: { appId: app }, organisationId: world.ids.club, withdrawnAt: null } })

/** The changes of this app, in the order of the feed. */
async function changesAfter(after: number) {
  const items = []
  for (let cursor = after; ; ) {
    const page = await approvals().list({ after: cursor, limit: 200 })
    items.push(...page.items.filter((item) => item.app === app))
    cursor = page.cursor
    if (!page.more) return { items, cursor }
  }
}

describe('a decision of the platform for a club', () => {
  it('is stored, and listed after what was listed before', async () => {
    const { cursor } = await changesAfter(0)
    await requestApproval(world.db, { club: world.ids.club, app }, world.core.now())
    const asked = await changesAfter(cursor)
    const common = { club: world.ids.club, app, decidedBy: null, requestedAt: expect.any(Number) }
    expect(asked.items).toEqual([{ ...common, state: 'requested', reason: null, decidedAt: null }])
    await requestApproval(world.db, { club: world.ids.club, app }, world.core.now())
    expect((await changesAfter(asked.cursor)).items).toEqual([])
    expect(await set({ state: 'approved' })).toEqual({ ended: 0 })
    const approved = await changesAfter(asked.cursor)
    expect(approved.items).toEqual([{ ...common, state: 'approved', reason: null, decidedAt: expect.any(Number) }])
    expect(await set({ state: 'approved' })).toEqual({ ended: 0 })
    expect(await changesAfter(approved.cursor)).toEqual({ items: [], cursor: expect.any(Number) })
    expect(await entries()).toHaveLength(1)
  })

  it('is in the audit log of the app’s team, with the club and the reason', async () => {
    await set({ state: 'refused', reason: 'Not <b>needed</b>.' })
    await set({ state: 'approved' })
    await consentTo(world, { client })
    await set({ state: 'withdrawn' })
    const by = { teamId: world.ids.team, personId: null, clientId: null }
    const after = { club: world.ids.club, clubName: 'Club' }
    expect(await entries()).toEqual([
      { ...by, action: 'club.refuse', after: { ...after, reason: 'Not <b>needed</b>.' } },
      { ...by, action: 'club.approve', after },
      { ...by, action: 'club.withdraw', after: { ...after, ended: 1 } },
    ])
  })

  it.each(['refused', 'withdrawn'] as const)(
    '%s ends the consents of all clients of the app, in this club alone',
    async (state) => {
      const others = { app: await mintApp(world), club: id('club') }
      await world.db.organisation.create({ data: { id: others.club, kind: 'club', name: 'Other' } })
      const stranger = await world.db.client.create({
        data: { id: id('client'), name: 'C', teamId: world.ids.team, appId: others.app, environment: 'production' },
      })
      const ended = [await consentTo(world, { client }), await consentTo(world, { client: await mintClient() })]
      ended.push(await consentTo(world, { client, member: await mintMember(world) }))
      const stay = [
        await consentTo(world, { client, club: others.club }),
        await consentTo(world, { client: stranger.id }),
      ]
      await world.db.oauthRecord.createMany({
        data: [...ended, ...stay].flatMap((grant) => [
          { model: 'Grant', id: grant, payload: {} },
          { model: 'RefreshToken', id: id('refresh'), payload: {}, grantId: grant },
        ]),
      })
      if (state === 'withdrawn') await set({ state: 'approved' })
      expect(await set({ state, reason: 'No.' })).toEqual({ ended: 3 })
      const rows = await world.db.consent.findMany({ where: { id: { in: [...ended, ...stay] }, withdrawnAt: null } })
      expect(rows.map(({ id }) => id).sort()).toEqual(stay.sort())
      const left = (grants: string[]) =>
        world.db.oauthRecord.count({ where: { OR: [{ id: { in: grants } }, { grantId: { in: grants } }] } })
      expect([await left(ended), await left(stay)]).toEqual([0, 4])
      const announced = await world.db.memberChange.findMany({ where: { clientId: client, kind: 'consentWithdrawn' } })
      expect(announced).toHaveLength(2)
    },
  )

  it.each<[string, object, object]>([
    ['withdrawal without an approval', { state: 'withdrawn' }, { status: 409, reason: 'changed_meanwhile' }],
    ['refusal without a reason', { state: 'refused' }, { status: 400 }],
    ['refusal with an empty reason', { state: 'refused', reason: '' }, { status: 400 }],
    ['refusal with NUL', { state: 'refused', reason: 'a\0b' }, { status: 400 }],
    ['refusal with a character that reverses others', { state: 'refused', reason: 'a\u202eb' }, { status: 400 }],
    ['refusal in 501 characters', { state: 'refused', reason: 'x'.repeat(501) }, { status: 400 }],
    ['approval with a reason', { state: 'approved', reason: 'x' }, { status: 400 }],
    ['request', { state: 'requested' }, { status: 400 }],
    ['approval of no app', { state: 'approved', app: 'a\0b' }, { status: 404, message: 'This app does not exist.' }],
    ['approval by no club', { state: 'approved', club: 'none' }, { status: 404, message: 'This club does not exist.' }],
  ])('as a %s is refused, and changes nothing', async (_, decision, refusal) => {
    await consentTo(world, { client })
    expect(await readRefusal(set(decision))).toMatchObject(refusal)
    expect([await row(), await entries(), await inForce()]).toEqual([null, [], 1])
  })

  it('as a refusal of what is approved is refused: that is withdrawn', async () => {
    await set({ state: 'approved' })
    await consentTo(world, { client })
    expect(await readRefusal(set({ state: 'refused', reason: 'No.' }))).toMatchObject({ status: 409 })
    expect([(await row())?.state, await inForce()]).toEqual(['approved', 1])
  })

  it('takes a reason of 500 characters of several bytes', async () => {
    await set({ state: 'refused', reason: '😀'.repeat(500) })
    expect((await row())?.reason).toBe('😀'.repeat(500))
  })

  it('is for clubs: no academy, and no test club, is one', async () => {
    const testClub = id('club')
    await world.db.organisation.create({
      data: { id: testClub, kind: 'club', name: 'Test', testTeamId: world.ids.team },
    })
    for (const club of [world.ids.academy, testClub]) {
      expect(await readRefusal(set({ state: 'approved', club }))).toMatchObject({ status: 404 })
    }
    expect(await row()).toBeNull()
  })
})

describe('a decision that ends many consents', () => {
  const portion = 3
  let consent: string
  beforeEach(async () => {
    await set({ state: 'approved' })
    consent = await consentTo(world, { client })
    await addCopies(world.db, consent, 7)
    await addTokens(world.db, consent, 4)
  })
  const withdraw = () => {
    const decision = { club: world.ids.club, app, state: 'withdrawn', reason: null } as const
    return decide(world.db, decision, { administrator: null, at: new Date(world.core.now()) }, portion)
  }
  const tokens = () => world.db.oauthRecord.count({ where: { grantId: { startsWith: consent } } })

  it('ends them and their tokens in portions', async () => {
    expect(await refusingMore(world.db, consent, portion, withdraw)).toBe(8)
    expect([await inForce(), await tokens(), (await row())?.state]).toEqual([0, 0, 'withdrawn'])
    expect((await entries()).map(({ after }) => (after as { ended?: number }).ended)).toEqual([undefined, 8])
    expect(await withdraw()).toBe(0)
    expect(await entries()).toHaveLength(2)
  })

  /** The last one to be ended is refused. */
  const interrupt = () =>
    refusing(world.db, { event: 'UPDATE', table: 'Consent', when: `OLD.id = '${consent}-7'` }, () =>
      expect(withdraw()).rejects.toThrow('refused'),
    )
  const housekeep = (limit: number) => endLeft(world.db, world.core.now(), limit)

  it('and fails in the middle lets nobody allow the app, and ends the others when it is repeated', async () => {
    await interrupt()
    expect([await inForce(), await tokens(), (await row())?.state]).toEqual([2, 8, 'withdrawn'])
    const held = await world.db.$transaction((tx) => holdApproval(tx, { club: world.ids.club, app }))
    expect(held).toBe(false)
    expect(await withdraw()).toBe(2)
    expect([await inForce(), await tokens()]).toEqual([0, 0])
    expect(await housekeep(portion)).toBe(0)
  })

  it('and fails in the middle is finished by housekeeping, in portions', async () => {
    await interrupt()
    expect(await housekeep(1)).toBe(1)
    expect([await inForce(), await tokens()]).toEqual([1, 4])
    expect(await housekeep(1)).toBe(1)
    expect([await inForce(), await tokens(), (await row())?.ending]).toEqual([0, 0, true])
    expect([await housekeep(1), (await row())?.ending, await housekeep(1)]).toEqual([1, false, 0])
    expect(await entries()).toHaveLength(2)
  })

  it('ends all of them before it removes the first token', async () => {
    const when = `starts_with(OLD."grantId", '${consent}')`
    await refusing(world.db, { event: 'DELETE', table: 'OauthRecord', when }, () =>
      expect(withdraw()).rejects.toThrow('refused'),
    )
    expect([await inForce(), (await row())?.ending]).toEqual([0, false])
  })

  it('and was interrupted leaves those that members give once the club has approved the app again', async () => {
    await interrupt()
    await set({ state: 'approved' })
    expect([await housekeep(portion), await inForce()]).toEqual([0, 2])
    await world.db.clubApproval.updateMany({ where: { appId: app }, data: { ending: true } })
    expect([await housekeep(portion), await inForce()]).toEqual([0, 2])
  })
})

describe('two decisions at once', () => {
  it.each(['approved', 'refused'] as const)(
    'of which %s comes second end in it, without consents where it refuses',
    async (state) => {
      await consentTo(world, { client })
      const reason = state === 'refused' ? 'No.' : null
      const first = { club: world.ids.club, app, state: 'requested' as const, at: new Date(world.core.now()) }
      await meanwhile(
        world.db,
        (tx) =>
          tx.clubApproval.create({
            data: { organisationId: first.club, appId: app, state: first.state, requestedAt: first.at },
          }),
        () =>
          decide(
            world.db,
            { club: first.club, app, state, reason },
            { administrator: null, at: new Date(world.core.now()) },
          ),
      )
      expect([(await row())?.state, await inForce()]).toEqual([state, state === 'approved' ? 1 : 0])
      expect((await row())?.requestedAt).toEqual(first.at)
    },
  )

  it('get numbers in the order of their commits: who reads in between misses none', async () => {
    const { cursor } = await changesAfter(0)
    const other = await mintApp(world)
    await meanwhile(
      world.db,
      (tx) => tx.$executeRaw`SELECT pg_advisory_xact_lock(7113902645)`,
      async () => {
        await set({ state: 'approved' })
      },
    )
    await set({ app: other, state: 'approved' })
    const { items } = await approvals().list({ after: cursor, limit: 200 })
    const own = items.filter((item) => [app, other].includes(item.app))
    expect(own.map((item) => item.app)).toEqual([app, other])
  })
})

describe('for a child', () => {
  const ages = new Map([['', 16]])
  const scopes = ['svc.me.profile:read']
  let child: string
  let guardian: string
  beforeEach(async () => {
    child = await mintMember(world)
    guardian = await mintMember(world)
  })
  const now = () => world.core.now()
  const of = () => ({ child, club: world.ids.club, app })
  const ask = () => requestForChild(world.db, of(), scopes, now(), { person: child, language: 'en' })
  const addGuardian = () => world.db.guardian.create({ data: { childId: child, guardianId: guardian } })
  const refuse = (person: string, as: 'guardian' | 'administrator') =>
    decideForChild(
      world.db,
      { ...of(), state: 'refused', reason: null, version: 1 },
      { person, as, at: new Date(now()), ages },
    )
  const listed = async () => {
    const apps = await appsOfChildren(world.db, { person: guardian, club: null, ages, now: now(), limit: 9, offset: 0 })
    return apps.map((one) => one.app)
  }

  it('a refusal ends the access of the child in the club, and no other', async () => {
    await addGuardian()
    await ask()
    const club = id('club')
    const memberships = { create: { personId: child } }
    await world.db.organisation.create({ data: { id: club, kind: 'club', name: 'Second', memberships } })
    await consentTo(world, { client, member: child, scopes })
    const others = [
      await consentTo(world, { client, member: child, club, scopes }),
      await consentTo(world, { client, member: guardian, scopes }),
    ]
    expect(await refuse(guardian, 'guardian')).toBe(1)
    const left = await world.db.consent.findMany({ where: { clientId: client, withdrawnAt: null } })
    expect(left.map((consent) => consent.id).toSorted()).toEqual(others.toSorted())
  })

  it('no administrator decides for themselves, nor beside a guardian', async () => {
    await ask()
    const where = { personId: { in: [child, guardian] }, organisationId: world.ids.club }
    await world.db.membership.updateMany({ where, data: { administrator: true } })
    await expect(refuse(child, 'administrator')).rejects.toMatchObject({ status: 404 })
    await addGuardian()
    await expect(refuse(guardian, 'administrator')).rejects.toMatchObject({ status: 404 })
    const row = await world.db.childRequest.findFirst({ where: { childId: child } })
    expect(row).toMatchObject({ state: 'requested', version: 1 })
  })

  it('a guardian sees no app whose consent is a year old, and none of a club that the child has left', async () => {
    await addGuardian()
    await consentTo(world, { client, member: child, scopes, at: now() - CONSENT_MS })
    expect(await listed()).toEqual([])
    await ask()
    expect(await listed()).toEqual([app])
    const left = { joinedAt: new Date(0), leftAt: new Date(now() - 1) }
    await world.db.membership.updateMany({ where: { personId: child }, data: left })
    expect(await listed()).toEqual([])
  })
})

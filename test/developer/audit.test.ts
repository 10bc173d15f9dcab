import { describe, expect, it } from 'vitest'
import { setLevel } from '../../server/admin/teams.ts'
import { addCopies } from '../oauth/more-consents.ts'
import { readRefusal } from '../support/platform.ts'
import { id } from '../support/tenant.ts'
import { teamWorld } from './team-world.ts'

const here = teamWorld()

const api = () => here.as(here.owner)
const app = () => here.world.ids.app
const team = () => here.world.ids.team
const entries = () => here.world.db.auditEntry.findMany({ where: { teamId: team() }, orderBy: { id: 'asc' } })

/** Addresses as long as they may be. */
const redirects = (count: number) =>
  Array.from({ length: count }, (_, n) => `https://app.example/${n}/`.padEnd(2_000, 'x'))

describe('a change of nothing', () => {
  it('leaves no entry and the version', async () => {
    await api().apps.update({ app: app(), name: 'Trainer', description: 'Plans.', homepage: 'https://app.example/' })
    const scopes = ['svc.me.events:read', 'svc.me.profile:read', 'svc.apps.storage:read']
    const { id: client } = await here.sandbox({ scopes })
    const url = 'https://hooks.example/in'
    await api().webhook.set({ app: app(), url, secret: 'first' })
    const before = await here.stored()
    const { version } = before.clients.find(({ id }) => id === client)!
    await api().apps.update({ app: app(), name: 'Trainer' })
    await api().apps.update({ app: app(), description: 'Plans.', homepage: 'https://app.example/' })
    await api().clients.update({ client, version, name: 'Sandbox', scopes })
    await api().webhook.set({ app: app(), url })
    expect(await here.stored()).toEqual(before)
  })

  it('leaves the purposes of a production client alone, in whatever order they come', async () => {
    const scopes = ['svc.me.profile:read', 'svc.me.events:read', 'svc.me.groups:read']
    const client = await here.production({ scopes })
    const before = await here.stored()
    const { version } = before.clients.find(({ id }) => id === client)!
    const purpose = Object.fromEntries(scopes.toReversed().map((scope) => [scope, 'It greets the member.']))
    await api().clients.update({ client, version, scopes, purpose })
    expect(await here.stored()).toEqual(before)
  })
})

describe('the entry of a change', () => {
  it('has what was removed and added of a long list, and counts instead of long ones', async () => {
    const { id: client } = await here.sandbox()
    await api().clients.update({ client, version: 0, redirectUris: redirects(50) })
    const many = (await entries()).at(-1)!
    expect(many.after).toEqual({ redirectUris: { count: 50 } })
    const short = ['https://app.example/one', ...redirects(49)]
    await api().clients.update({ client, version: 1, redirectUris: short })
    const one = (await entries()).at(-1)!
    expect(one.after).toEqual({ redirectUris: ['https://app.example/one'] })
    expect(one.before).toEqual({ redirectUris: { count: 1 } })
    expect(
      Math.max(...(await entries()).map(({ before, after }) => JSON.stringify([before, after]).length)),
    ).toBeLessThan(4_000)
  })
})

describe('the changes of a day', () => {
  it('are 1,000 of a team: the next one is 429 until the first is a day old, and nothing changes', async () => {
    const { db, ids } = here.world
    const { id: client } = await here.sandbox()
    const consent = { id: id('grant'), personId: ids.member, organisationId: ids.club, clientId: client, scopes: [] }
    await db.consent.create({ data: consent })
    // More than a portion.
    await addCopies(db, consent.id, 5_001)
    const now = here.world.now() * 1_000
    const inSeconds = 3_600
    const at = new Date(now - 86_400_000 + inSeconds * 1_000)
    const data = { teamId: team(), personId: here.colleague, action: 'app.update', target: app() }
    await db.auditEntry.deleteMany({ where: { teamId: team() } })
    await db.auditEntry.createMany({ data: Array.from({ length: 1_000 }, () => ({ ...data, at })) })
    const before = await here.stored()
    const refused = await readRefusal(api().apps.update({ app: app(), description: 'Another' }))
    expect(refused).toMatchObject({
      status: 429,
      message: expect.stringMatching(/^A team can make at most 1000 changes per day/),
    })
    const wait = Number(/(\d+) s\.$/.exec(refused.message)![1])
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(inSeconds)
    expect((await readRefusal(api().clients.remove({ client, confirm: client }))).status).toBe(429)
    expect(await here.stored()).toEqual(before)
    // Another team and the operator have other entries.
    const other = await here.as(here.stranger).apps.create({
      team: here.strangers,
      name: 'Theirs',
      provider: here.world.ids.provider,
    })
    expect(other.name).toBe('Theirs')
    await setLevel(db, team(), 'developer', new Date(now))
    expect((await entries()).at(-1)).toMatchObject({ action: 'team.setLevel', personId: null })
    here.world.advance(inSeconds)
    expect((await api().apps.update({ app: app(), homepage: '' })).homepage).toBeNull()
  })
})

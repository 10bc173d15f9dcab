import { describe, expect, it } from 'vitest'
import { meanwhile } from '../support/meanwhile.ts'
import { mintApp, readRefusal } from '../support/platform.ts'
import { teamWorld } from './team-world.ts'

const here = teamWorld()
const rulesAs = (person: string) => here.as(person).rules
/** An app of the team, without rules. */
const mint = () => mintApp(here.world)
const stored = (app: string) =>
  here.world.db.collectionRule.findMany({
    where: { appId: app },
    orderBy: { collection: 'asc' },
    select: { collection: true, rule: true },
  })
const listAuditEntries = (app: string) =>
  here.world.db.auditEntry.findMany({
    where: { target: app },
    orderBy: { id: 'asc' },
    select: { action: true, personId: true, before: true, after: true },
  })

describe('the rules of an app', () => {
  it('are set, replaced and removed by each person of the team, each change once in the audit log', async () => {
    const app = await mint()
    expect(await rulesAs(here.owner).list({ app })).toEqual({ items: [] })
    const scores = { collection: 'scores', rule: 'author' as const }
    expect(await rulesAs(here.colleague).set({ app, ...scores })).toEqual(scores)
    await rulesAs(here.colleague).set({ app, ...scores })
    await rulesAs(here.owner).set({ app, collection: 'Boards', rule: 'app' })
    await rulesAs(here.owner).set({ app, collection: 'scores', rule: 'app' })
    expect(await rulesAs(here.colleague).list({ app })).toEqual({
      items: [
        { collection: 'Boards', rule: 'app' },
        { collection: 'scores', rule: 'app' },
      ],
    })
    await rulesAs(here.owner).set({ app, collection: 'scores', rule: 'anyone' })
    await rulesAs(here.owner).set({ app, collection: 'scores', rule: 'anyone' })
    expect(await stored(app)).toEqual([{ collection: 'Boards', rule: 'app' }])
    const entry = (personId: string, before: string, collection: string, rule: string) => ({
      action: 'rule.set',
      personId,
      before: { rule: before },
      after: { collection, rule },
    })
    expect(await listAuditEntries(app)).toEqual([
      entry(here.colleague, 'anyone', 'scores', 'author'),
      entry(here.owner, 'anyone', 'Boards', 'app'),
      entry(here.owner, 'author', 'scores', 'app'),
      entry(here.owner, 'app', 'scores', 'anyone'),
    ])
  })

  it('bind members over REST within 5 seconds, and no longer once they are removed', async () => {
    const { world } = here
    const { app } = world.ids
    const put = () => world.call('PUT', '/storage/bound/k', { body: { value: 1 } })
    expect((await put()).status).toBe(200)
    await rulesAs(here.owner).set({ app, collection: 'bound', rule: 'app' })
    world.advance(5)
    const refused = await put()
    expect([refused.status, refused.body]).toEqual([403, { detail: 'This entry belongs to another member.' }])
    expect(refused.headers).toMatchObject({ 'x-storage-used': '1', 'x-error-code': 'entryNotOwn' })
    await rulesAs(here.owner).set({ app, collection: 'bound', rule: 'anyone' })
    expect((await put()).status).toBe(200)
  })

  it('do not bind the team in its test club', async () => {
    const { world } = here
    const { app, team } = world.ids
    const { club } = await here.as(here.owner).testClub.reset({ team })
    await world.db
      .$executeRaw`SELECT FROM storage_write(${app}, ${club}, '', 'owned', 'k', '1', gen_random_uuid(), now(),
      1000, null, null, null, false)`
    await rulesAs(here.owner).set({ app, collection: 'owned', rule: 'app' })
    const { data } = here.as(here.colleague)
    const of = { app, club, owner: '', collection: 'owned', key: 'k' }
    const { etag } = await data.put({ ...of, etag: (await data.entry(of)).etag, value: '2' })
    expect((await data.entry(of)).value).toBe('2')
    await data.remove({ ...of, etag })
    expect(await readRefusal(data.entry(of))).toMatchObject({ status: 404 })
  })

  it('are at most 100, also when two are added at once', async () => {
    const app = await mint()
    const data = Array.from({ length: 99 }, (_, n) => ({ appId: app, collection: `c${n}`, rule: 'author' }))
    await here.world.db.collectionRule.createMany({ data })
    const refusal = await meanwhile(
      here.world.db,
      async (tx) => {
        await tx.$queryRaw`SELECT FROM "Team" WHERE id = ${here.world.ids.team} FOR NO KEY UPDATE`
        await tx.collectionRule.create({ data: { appId: app, collection: 'c99', rule: 'app' } })
      },
      () => readRefusal(rulesAs(here.owner).set({ app, collection: 'c100', rule: 'author' })),
    )
    expect(refusal).toMatchObject({
      status: 409,
      reason: 'too_many_rules',
      message: 'An app can have rules for at most 100 collections.',
    })
    expect(await stored(app)).toHaveLength(100)
    expect(await listAuditEntries(app)).toEqual([])
    await rulesAs(here.owner).set({ app, collection: 'c99', rule: 'author' })
    expect(await stored(app)).toContainEqual({ collection: 'c99', rule: 'author' })
    await rulesAs(here.owner).set({ app, collection: 'c99', rule: 'anyone' })
    await rulesAs(here.owner).set({ app, collection: 'c100', rule: 'author' })
  })
})

const NAMES = "Names use 1 to 64 letters, digits, '_' or '-'."

describe('a rule is refused', () => {
  it.each([
    ['of an unknown kind', { rule: 'owner' }, 400, 'rule is anyone, author or app.'],
    ['that is null', { rule: null }, 400, 'rule is anyone, author or app.'],
    ['without a collection', { collection: '' }, 422, NAMES],
    ['for a collection of 65 characters', { collection: 'x'.repeat(65) }, 422, NAMES],
    ['for a collection with a slash', { collection: 'a/b' }, 422, NAMES],
    ['for a collection with a null character', { collection: 'a\0' }, 422, NAMES],
    ['of a malformed app', { app: 'a b' }, 400, "app must be 1 to 64 letters, digits, '_' or '-'."],
    ['of an app that does not exist', { app: 'none' }, 404, 'This app does not exist.'],
  ])('%s', async (_, wrong, status, message) => {
    const before = await here.stored()
    const input = { app: here.world.ids.app, collection: 'c', rule: 'author', ...wrong }
    expect(await readRefusal(rulesAs(here.owner).set(input as never))).toMatchObject({ status, message })
    expect(await here.stored()).toEqual(before)
  })

  it('by a person of another team, who does not see it either', async () => {
    const app = await mint()
    await rulesAs(here.owner).set({ app, collection: 'c', rule: 'author' })
    const before = await here.stored()
    const unknown = { status: 404, message: 'This app does not exist.' }
    const { list, set } = rulesAs(here.stranger)
    expect(await readRefusal(list({ app }))).toMatchObject(unknown)
    for (const rule of ['anyone', 'author', 'app'] as const) {
      expect(await readRefusal(set({ app, collection: 'c', rule }))).toMatchObject(unknown)
    }
    expect(await here.stored()).toEqual(before)
  })

  it('with a collection of 64 characters it is not', async () => {
    const app = await mint()
    const longest = { collection: 'x'.repeat(64), rule: 'app' as const }
    await rulesAs(here.owner).set({ app, ...longest })
    expect(await stored(app)).toEqual([longest])
  })
})

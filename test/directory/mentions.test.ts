import { describe, expect, it } from 'vitest'
import { bodyOf } from '../../routers/webhooks/deliveries/request.ts'
import { asPlatform } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld()

const at = new Date('2025-05-05T12:00:00Z')

/** A person with this address. */
async function person(email: string, personId = id('person')) {
  await world.db.person.create({ data: { id: personId, firstName: 'Anna', lastName: 'Berger', email } })
  return personId
}
const erase = (personId: string) => asPlatform(world).directory.people.erase({ id: personId })

describe('an erased person', () => {
  it('is reported to the log, to be erased again after a restore, and an unknown one is not', async () => {
    const personId = await person('')
    const told: unknown[] = []
    const core = { ...world.core, removed: (...one: unknown[]) => void told.push(one) }
    const { people } = asPlatform({ ...world, core }).directory
    const { removed } = await people.erase({ id: personId })
    await expect(people.erase({ id: personId })).rejects.toMatchObject({ status: 404 })
    expect(told).toEqual([[{ repeat: 'member.erase', person: personId }, { removed }]])
  })

  it('leaves no address in texts of teams, whose longer addresses and other texts stay', async () => {
    const { db, ids } = world
    const address = `${id('a.b+c-d')}@example.org`
    const longer = [`x${address}`, `x.${address}`, `${address}.uk`, `${address}-x`, `é${address}`]
    const text = (one: string) => `Ask <${one}>, or\n${one.toUpperCase()}. Not ${longer.join(' ')}`
    const values = (one: string) => ({ list: [text(one), 1, null, true], more: { text: text(one) } })
    const teamId = id('team')
    await db.team.create({ data: { id: teamId, name: text(address), level: 'hobby' } })
    const before = { name: text(address), wanted: values(address) }
    const app = { ...before, description: text(address), homepage: `https://example.org/?to=${address}` }
    const ofTeam = { teamId, providerId: ids.provider }
    const [appId, clientId, other] = [id('app'), id('client'), id('client')]
    await db.app.create({ data: { id: appId, ...ofTeam, ...app } })
    const client = { environment: 'sandbox' as const, teamId, appId }
    await db.client.create({ data: { id: clientId, ...client, ...before, purpose: { a: text(address) } } })
    await db.client.create({ data: { id: other, ...client, name: longer.join(' ') } })

    await erase(await person(address))
    const after = { name: text('(erased)').replace('(ERASED)', '(erased)') }
    const changed = JSON.parse(JSON.stringify(values('(erased)')).replaceAll('(ERASED)', '(erased)'))
    expect(await db.team.findUnique({ where: { id: teamId } })).toMatchObject(after)
    expect(await db.app.findUnique({ where: { id: appId } })).toMatchObject({
      ...after,
      wanted: changed,
      description: after.name,
      homepage: 'https://example.org/?to=(erased)',
      version: 1,
    })
    const found = await db.client.findUnique({ where: { id: clientId } })
    expect(found).toMatchObject({ ...after, wanted: changed, purpose: { a: after.name }, version: 1 })
    expect(await db.client.findUnique({ where: { id: other } })).toMatchObject({ name: longer.join(' '), version: 0 })
  })

  it('is no longer named in audit entries, which stay', async () => {
    const { db, ids } = world
    const address = `${id('anna')}@example.org`
    const [anna, ben] = [await person(address), await person(`${id('ben')}@example.org`)]
    const teamId = ids.team
    const entry = { teamId, at, action: 'client.update' }
    const values = { before: { purpose: { a: `Ask ${address}` } }, after: { n: 1 } }
    await db.auditEntry.createMany({
      data: [
        { ...entry, personId: anna, target: 'c_1', ...values },
        { ...entry, personId: ben, action: 'person.setRole', target: anna },
        // The id of a client, which may be that of a person too.
        { ...entry, personId: ben, target: anna },
        { ...entry, personId: null, target: 'c_1', after: { name: address } },
      ],
    })
    const stored = () =>
      db.auditEntry.findMany({
        where: { teamId, at },
        orderBy: { id: 'asc' },
        omit: { id: true, at: true, teamId: true, clientId: true },
      })
    const { teamChanges } = await asPlatform(world).directory.people.export({ id: anna })
    expect(teamChanges.map(({ own, action, target }) => [own, action, target])).toEqual([
      [true, 'client.update', 'c_1'],
      [false, 'person.setRole', anna],
    ])
    await erase(anna)
    const none = { before: null, after: null }
    expect(await stored()).toEqual([
      { personId: '', action: 'client.update', target: 'c_1', ...values, before: { purpose: { a: 'Ask (erased)' } } },
      { personId: ben, action: 'person.setRole', target: '', ...none },
      { personId: ben, action: 'client.update', target: anna, ...none },
      { personId: null, action: 'client.update', target: 'c_1', before: null, after: { name: '(erased)' } },
    ])
  })
})

describe('the published events', () => {
  const publish = async (data: string, event = id('event')) => {
    const { db, ids } = world
    const body = bodyOf({ id: event, type: 't', publishedAt: at.toISOString() }, data)
    await db.publishedEvent.create({ data: { appId: ids.app, id: event, type: 't', body, publishedAt: at } })
    return event
  }
  const kept = async (events: string[]) => {
    const rows = await world.db.publishedEvent.findMany({ where: { id: { in: events } }, select: { id: true } })
    return events.filter((event) => rows.some(({ id }) => id === event))
  }

  it('that name an erased person go with their deliveries, in whatever spelling, and others stay', async () => {
    const { db, ids } = world
    const personId = `${id('jörg/')}"\\🎾`
    const email = `${id('Jörg')}@Example.org`
    await person(email, personId)
    const inAscii = (text: string) =>
      JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    const upper = inAscii(personId).replace(/\\u[\da-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`)
    const named = await Promise.all([
      publish(JSON.stringify({ member: personId })),
      publish(JSON.stringify([{ [personId]: 1 }])),
      publish(`{"a":[ ${inAscii(personId)} ]}`),
      publish(`{"a":${upper.replaceAll('/', '\\/')}}`),
      publish(JSON.stringify({ to: email })),
      publish(JSON.stringify({ to: email.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) })),
    ])
    const others = await Promise.all([
      publish(JSON.stringify({ member: `${personId}2`, note: `About ${personId}.` })),
      publish(JSON.stringify({ to: `x${email}` })),
    ])
    const subscription = { id: id('subscription'), appId: ids.app, subscriber: 's', url: 'https://hooks.example/' }
    await db.subscription.create({ data: subscription })
    const states = [
      { state: 'pending' as const, nextAttemptAt: at },
      { state: 'pending' as const, nextAttemptAt: at, lease: 'worker', leasedUntil: at },
      { state: 'delivered' as const, lastAnswer: personId },
    ]
    const of = { appId: ids.app, subscriptionId: subscription.id, createdAt: at }
    await db.delivery.createMany({
      data: [named[0]!, others[0]!].flatMap((eventId) =>
        states.map((state) => ({ ...of, ...state, id: id('delivery'), eventId })),
      ),
    })
    const { removed } = await erase(personId)
    expect(removed.events).toBe(named.length)
    expect(await kept([...named, ...others])).toEqual(others)
    const deliveries = await db.delivery.findMany({ where: { subscriptionId: subscription.id } })
    expect(deliveries.map(({ eventId }) => eventId)).toEqual([others[0], others[0], others[0]])
  })

  it('are looked through batch by batch, to the last', async () => {
    const { db, ids } = world
    const personId = await person('')
    // 2,500 at three moments: more than a batch at one of them.
    await db.$executeRaw`INSERT INTO "PublishedEvent" ("appId", id, type, body, "publishedAt")
      SELECT ${ids.app}, ${personId} || '-' || i, 't',
        json_build_object('member', CASE WHEN i % 500 = 0 THEN ${personId} ELSE 'other' END)::text,
        '2025-01-01'::timestamptz + (i / 1200) * interval '1 ms' FROM generate_series(1, 2500) i`
    expect((await erase(personId)).removed.events).toBe(5)
    expect(await db.publishedEvent.count({ where: { id: { startsWith: personId } } })).toBe(2_495)
  })

  it('of an unknown person stay', async () => {
    const event = await publish('{"member":"ghost"}')
    await expect(erase('ghost')).rejects.toMatchObject({ status: 404 })
    expect(await kept([event])).toEqual([event])
  })
})

describe('an audit entry', () => {
  it('is changed by nothing but an erasure, which only empties it', async () => {
    const { db, ids } = world
    const personId = await person('')
    const data = { teamId: ids.team, personId, action: 'person.join', target: personId, at }
    const { id: entry } = await db.auditEntry.create({ data })
    const update = (set: string, erasing: boolean) =>
      db.inTransaction(async (client) => {
        if (erasing) await client.query(`SET LOCAL audit.erase = 'on'`)
        await client.query(`UPDATE "AuditEntry" SET ${set} WHERE id = $1`, [entry])
      })
    const refused = 'Audit entries are never changed.'
    await expect(update(`"personId" = ''`, false)).rejects.toThrow(refused)
    for (const set of [`"personId" = 'other'`, `"personId" = NULL`, `target = 'other'`, `action = 'x'`, 'at = now()']) {
      await expect(update(set, true), set).rejects.toThrow(refused)
    }
    expect(await db.auditEntry.findUnique({ where: { id: entry } })).toMatchObject(data)
    await erase(personId)
    expect(await db.auditEntry.findUnique({ where: { id: entry } })).toMatchObject({
      ...data,
      personId: '',
      target: '',
    })
  })
})

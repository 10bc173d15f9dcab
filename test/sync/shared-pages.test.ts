import { ServerResponse } from 'node:http'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { callAs } from '../../routers/core.ts'
import { BUDGET_BYTES } from '../../server/http/memory-budget.ts'
import { deferred } from '../support/deferred.ts'
import { openChanges, openEvents } from '../support/event-stream.ts'
import { started } from '../support/started.ts'
import { id } from '../support/tenant.ts'

import { sharedDatabase, startWorld } from '../support/world.ts'

const KIB = 1024

const world = started(() => startWorld({ db: counted() }))
let collection: string
/** The names of the statements that the service has run. */
const statements: string[] = []
const counted = () =>
  new Proxy(sharedDatabase(), {
    get(db, name) {
      if (name !== 'execute') return Reflect.get(db, name)
      const execute: Database['execute'] = async (statement, values) => {
        statements.push(statement.name)
        const rows = await db.execute(statement, values)
        await found(statement.name)
        return rows
      }
      return execute
    },
  })
/** Before the rows of a statement are returned. */
let found: (name: string) => unknown = () => {}
const countRuns = (name: string) => statements.filter((one) => one === name).length

beforeEach(async () => {
  collection = id('c')
  await world.db.storageEntry.deleteMany({ where: { appId: world.ids.app } })
  statements.length = 0
})

const put = async (key: string, value: unknown, at = collection) => {
  const reply = await world.call('PUT', `/storage/${at}/${key}`, { body: { value } })
  expect(reply.status).toBe(200)
}
const members = async (count: number) => {
  const people = Array.from({ length: count }, () => id('person'))
  await world.db.person.createMany({ data: people.map((id) => ({ id, firstName: 'N', lastName: 'N', email: '' })) })
  const { club: organisationId } = world.ids
  await world.db.membership.createMany({ data: people.map((personId) => ({ organisationId, personId })) })
  return people
}
const open = (claims?: object, query?: string) => openChanges(world, collection, { claims, query })
/** The same over tRPC. */
const subscribe = async () =>
  openEvents(world.internalPort, `/trpc/storage.watch?input=${encodeURIComponent(JSON.stringify({ collection }))}`, {
    authorization: `Bearer ${await world.token()}`,
  })
const freeBytes = () => world.memory.freeBytes

describe('a change', () => {
  it('is read once for all streams of its collection, and for none of another', async () => {
    const streams = await Promise.all((await members(20)).map((sub) => open({ sub })))
    const other = await world.call('GET', `/collections/${id('other')}/changes`)
    statements.length = 0
    await put('k', { n: 1 }, id('another'))
    await put('k', { n: 2 })
    const events = await Promise.all(streams.map((stream) => stream.take(1)))
    expect(events.map(([event]) => event!.data.value)).toEqual(streams.map(() => ({ n: 2 })))
    expect(countRuns('storage_snapshot') + countRuns('storage_changes')).toBe(1)
    expect(other.status).toBe(200)
    for (const stream of streams) stream.close()
  })

  it('is read once for all requests that wait for it, and for none of another collection', async () => {
    const subs = await members(20)
    const path = `/collections/${collection}/changes`
    const replies = subs.map(async (sub) => {
      const { cursor } = (await world.call('GET', path, { claims: { sub } })).body
      return world.call('GET', `${path}?wait=50&since=${cursor}`, { claims: { sub } })
    })
    await expect.poll(() => world.longPollSlots.size).toBe(20)
    statements.length = 0
    await put('k', 1, id('another'))
    expect(countRuns('storage_snapshot') + countRuns('storage_changes')).toBe(0)
    await put('k', 2)
    for (const reply of replies) expect((await reply).body.items).toMatchObject([{ key: 'k', value: 2 }])
    expect(countRuns('storage_snapshot') + countRuns('storage_changes')).toBe(1)
  })

  it('of 9 MB is held once for 20 streams that do not read, until the last of them has left', async () => {
    const streams = await Promise.all((await members(20)).map((sub) => open({ sub })))
    await expect.poll(freeBytes).toBe(BUDGET_BYTES)
    for (const stream of streams) stream.pause()
    await put('k', 'x'.repeat(9_000 * KIB))
    await expect.poll(freeBytes).toBe(BUDGET_BYTES - 9_000 * KIB - 2)
    expect(countRuns('storage_snapshot')).toBeGreaterThan(0)
    for (const stream of streams) stream.close()
    await expect.poll(freeBytes).toBe(BUDGET_BYTES)
  })
})

it('a change of megabytes reaches all requests that wait for it with other pages, where memory suffices for one at a time', async () => {
  const [count, bytes] = [6, 1_536 * KIB]
  const path = `/collections/${collection}/changes`
  const subs = await members(count)
  await put('k', 1)
  const replies = subs.map(async (sub, i) => {
    const { cursor } = (await world.call('GET', path, { claims: { sub } })).body
    return world.call('GET', `${path}?wait=50&limit=${50 + i}&since=${cursor}`, { claims: { sub } })
  })
  await expect.poll(() => world.longPollSlots.size).toBe(count)
  await expect.poll(freeBytes).toBe(BUDGET_BYTES)
  const others = BUDGET_BYTES - 13 * bytes
  expect(world.memory.take('another team', others)).toBe(true)
  // Each knows the size of its page before any has memory for it.
  const all = deferred()
  let sizes = 0
  found = (name) => {
    if (name !== 'storage_changes') return undefined
    if (++sizes === count) all.resolve()
    return all.promise
  }
  onTestFinished(() => {
    found = () => {}
  })
  await callAs(world.core, world.principal()).storage.put({ collection, key: 'k', value: 'x'.repeat(bytes) })
  for (const reply of replies) {
    const { status, body } = await reply
    expect([status, body.items.map(({ value }: { value: string }) => value.length)]).toEqual([200, [bytes]])
  }
  world.memory.give('another team', others)
  await expect.poll(freeBytes).toBe(BUDGET_BYTES)
})

it('a change of a megabyte is the same bytes for streams over REST and tRPC', async () => {
  const streams = await Promise.all([open(), subscribe(), subscribe()])
  const write = vi.spyOn(ServerResponse.prototype, 'write')
  onTestFinished(() => write.mockRestore())
  // Over REST its answer would be written as well.
  await callAs(world.core, world.principal()).storage.put({ collection, key: 'k', value: 'x'.repeat(1_000 * KIB) })
  const large = () => write.mock.calls.map(([chunk]) => chunk).filter((chunk) => chunk.length > KIB)
  const sent = () => large().reduce((bytes, chunk) => bytes + chunk.length, 0)
  await expect.poll(sent).toBeGreaterThan(3 * 1_000 * KIB)
  expect(new Set(large().map(({ buffer }) => buffer)).size).toBe(1)
  for (const stream of streams) stream.close()
})

describe('a page of a stream', () => {
  it('ends before the entry that exceeds 256 KiB, and has at least one', async () => {
    for (const key of ['a', 'b', 'c', 'd', 'e']) await put(key, key.repeat(100 * KIB))
    await put('f', 'f'.repeat(600 * KIB))
    await put('g', 1)
    statements.length = 0
    const stream = await open()
    const events = await stream.take(7)
    expect(events.map(({ data }) => data.key)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    // a b; c d; e; f; g. The first is read twice, as its size is not known.
    const pages = countRuns('storage_snapshot')
    expect(pages).toBeGreaterThanOrEqual(5)
    await expect.poll(freeBytes).toBe(BUDGET_BYTES)
    stream.close()
    const since = (await world.call('GET', `/collections/${collection}/changes`)).body.cursor
    await put('h', 'h'.repeat(200 * KIB))
    await world.call('DELETE', `/storage/${collection}/a`)
    await put('i', 'i'.repeat(200 * KIB))
    const resumed = await open({}, `?since=${since}`)
    expect((await resumed.take(3)).map(({ data }) => [data.key, data.deleted])).toEqual([
      ['h', undefined],
      ['a', true],
      ['i', undefined],
    ])
    resumed.close()
  })

  it('of more than 64 KiB waits for memory, and goes on when there is some', async () => {
    await put('a', 'a'.repeat(100 * KIB))
    const bytes = freeBytes()
    expect(world.memory.take('another team', bytes)).toBe(true)
    const opening = open()
    await expect.poll(() => world.memory.waiting).toBe(1)
    world.memory.give('another team', bytes)
    const stream = await opening
    expect((await stream.take(1))[0]!.data.key).toBe('a')
    await expect.poll(freeBytes).toBe(BUDGET_BYTES)
    stream.close()
  })
})

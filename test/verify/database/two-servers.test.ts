import fc from 'fast-check'
import type pg from 'pg'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Answer } from '../../process/service.ts'
import { until } from '../../process/service.ts'
import { seed } from '../../support/chance.ts'
import { times } from '../../support/rounds.ts'
import { endingAfterAll } from '../at-end.ts'
import type { Send, TwoServers } from './two-servers.ts'
import { startTwo } from './two-servers.ts'

const QUOTA = 16_000
const WRITERS = 40

const lockCounter = `SELECT FROM "StorageUsage" WHERE "appId" = $1 AND "clubId" = $2 FOR UPDATE`

const atEnd = endingAfterAll()
let two: TwoServers
beforeAll(async () => {
  two = await startTwo(QUOTA, atEnd)
})
beforeEach(async () => {
  await two.db.storageEntry.deleteMany({ where: { appId: { in: two.apps } } })
})

describe(`two servers (seed ${seed})`, () => {
  it('never exceed the quota with 40 writers', async () => {
    const rounds = times(8, 2)
    const script = fc.array(step, { minLength: 8, maxLength: 8 })
    const scripts = fc.sample(script, { seed, numRuns: rounds * WRITERS })
    const senders = await Promise.all(
      Array.from({ length: WRITERS }, (_, i) => two.sender({ server: i % 2, member: i % two.members.length })),
    )
    const acknowledged = new Set<unknown>()
    const writers = senders.map((send, i) => createWriter(send, `w${i}`, acknowledged))
    const statuses = new Set<number>()
    for (let round = 0; round < rounds; round++) {
      const work = writers.map(async (writer, i) => {
        for (const step of scripts[round * WRITERS + i]!) statuses.add(await writer(step))
      })
      await watched(Promise.all(work))
      const stored = await two.db.storageEntry.findMany({ where: { appId: two.apps[0]! } })
      expect(stored.filter(({ value }) => !acknowledged.has(JSON.parse(value)))).toEqual([])
    }
    expect([...statuses].sort()).toEqual([200, 204, 404, 412, 413])
    expect(two.failures()).toEqual([])
  })

  it('repeat a write after a deadlock with a removal', async () => {
    const [club, member] = [1, 4]
    const send = await two.sender({ club, member })
    const [gate, removal] = [await two.connect(), await two.connect()]
    const collide = async () => {
      // A member who was removed before may write once the server has checked again.
      await expect.poll(() => send('PUT', 'c/k?scope=user', { value: 1 })).toMatchObject({ status: 200 })
      // The gate lets the deadlock form at once, however slow the machine: each already waits for the counter. The first to
      // check gives way: the write, after two seconds. A write locks the counter, then the entry; a cascade the entry first.
      await gate.query('BEGIN')
      await gate.query(lockCounter, [two.apps[0], two.clubs[club]])
      await removal.query(`BEGIN; SET LOCAL deadlock_timeout = '30s'; SET LOCAL statement_timeout = 0`)
      await removal.query(`SELECT FROM "StorageEntry" WHERE "memberId" = $1 FOR UPDATE`, [two.members[member]])
      const began = performance.now()
      const writing = send('PUT', 'c/k?scope=user', { value: 2 })
      await untilBlocked(gate, 1)
      const removing = removal.query(`DELETE FROM "Membership" WHERE "personId" = $1`, [two.members[member]])
      await untilBlocked(gate, 2)
      await gate.query('COMMIT')
      const formedMs = performance.now() - began
      await removing
      await removal.query('COMMIT')
      return { answer: await writing, formedMs }
    }
    let { answer, formedMs } = await collide()
    // The server gives a statement up after 5.5 s, of which the deadlock takes two: one that formed too late says nothing.
    while (formedMs > 2_500) {
      two.failures()
      await two.join(member)
      await two.join(member, club)
      ;({ answer, formedMs } = await collide())
    }
    // The second attempt finds no membership.
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'invalid_token' } } })
    expect(await two.usage(0, club)).toEqual({ counted: 0, stored: 0 })
    expect(two.failures()).toEqual([])
  })

  it('do not block writers of other apps and clubs', async () => {
    const places = [0, 1].flatMap((server) => [0, 1].flatMap((app) => [0, 1].map((club) => ({ server, app, club }))))
    const senders = await Promise.all(
      places.map(async (place) => ({ send: await two.sender(place), held: place.app === 0 && place.club === 0 })),
    )
    for (const { send } of senders) await send('PUT', 'c/k', { value: 0 })
    const holder = await two.connect()
    await holder.query('BEGIN')
    await holder.query(lockCounter, [two.apps[0], two.clubs[0]])

    const held = senders.filter(({ held }) => held).map(({ send }) => send('PUT', 'c/k', { value: 1 }))
    await untilBlocked(holder, held.length)
    const free = senders.filter(({ held }) => !held).map(({ send }, i) => useAlone(send, `free${i}`))
    expect((await Promise.all(free)).flat()).toEqual(free.flatMap(() => [200, 200, 413, 200, 204]))
    expect(await two.blockedBy(holder)).toBe(held.length)
    await holder.query('COMMIT')
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(held.map(() => 200))
  })
})

const untilBlocked = (holder: pg.Client, wanted: number) =>
  until(
    () => two.blockedBy(holder),
    (count) => count === wanted,
  )

/** Compares counter and sum in one snapshot, over and over while `work` runs. */
async function watched(work: Promise<unknown>) {
  let working = true
  const watch = async () => {
    for (let attempts = 0; ; attempts++) {
      const { counted, stored } = await two.usage()
      expect(stored).toBeLessThanOrEqual(QUOTA)
      expect(counted).toBe(stored)
      if (!working) return attempts
    }
  }
  const done = work.finally(() => (working = false))
  const [attempts] = await Promise.all([watch(), done])
  expect(attempts).toBeGreaterThan(1)
}

/** The statuses of a writer with a store of its own, in sequence. */
async function useAlone(send: Send, key: string): Promise<number[]> {
  const statuses: number[] = []
  const note = ({ status }: { status: number }) => statuses.push(status)
  note(await send('PUT', `c/${key}`, { value: 1 }))
  note(await send('PUT', `c/${key}`, { value: 2 }))
  note(await send('PUT', `c/${key}`, { value: makeText(QUOTA + 1) }))
  note(await send('GET', `c/${key}`))
  note(await send('DELETE', `c/${key}`))
  return statuses
}

/** A writer's next step: on its own or a shared key, with or without a condition. */
const step = fc.record({
  kind: fc.constantFrom('put', 'put', 'put', 'delete', 'create', 'replace', 'stale'),
  key: fc.constantFrom('own0', 'own1', 'shared0', 'shared1', 'shared2', 'shared3'),
  scope: fc.constantFrom('org', 'user'),
  bytes: fc.integer({ min: 12, max: 1200 }),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

let values = 0

/** A unique value whose JSON has `bytes` bytes. */
const makeText = (bytes: number) => `${++values}.`.padEnd(bytes - 2, 'x')

/** Returns a function that takes a step and checks its answer; adds acknowledged values to `stored`. */
function createWriter(send: Send, name: string, stored: Set<unknown>) {
  const known = new Map<string, { value: string; etag: string }>()
  return async ({ kind, key, scope, bytes }: Step): Promise<number> => {
    const isOwn = key.startsWith('own')
    const path = `c/${isOwn ? `${name}-${key}` : key}?scope=${scope}`
    const before = known.get(path)
    const value = makeText(bytes)
    const headers = headersFor(kind, before?.etag)
    const answer = kind === 'delete' ? await send('DELETE', path) : await send('PUT', path, { value, headers })
    expectDocumented(answer)

    if (answer.status === 200) {
      known.set(path, { value, etag: String(answer.headers.etag) })
      stored.add(value)
    }
    if (answer.status === 204) known.delete(path)
    if (!isOwn) return answer.status

    const fits = { create: !before, replace: before, stale: false, put: true, delete: true }[kind]
    const grows = bytes > (before ? before.value.length + 2 : 0)
    const allowed = kind === 'delete' ? [before ? 204 : 404] : !fits ? [412] : grows ? [200, 413] : [200]
    expect(allowed, `${kind} ${path} with ${bytes} bytes`).toContain(answer.status)
    if (answer.status > 204) {
      const { status, body } = await send('GET', path)
      expect([status, body.value]).toEqual(before ? [200, before.value] : [404, undefined])
    }
    return answer.status
  }
}

function headersFor(kind: Step['kind'], etag = '"none"'): Record<string, string> {
  if (kind === 'create') return { 'if-none-match': '*' }
  if (kind === 'replace') return { 'if-match': etag }
  return kind === 'stale' ? { 'if-match': '"11111111-1111-4111-8111-111111111111"' } : {}
}

const details: Record<number, string> = {
  404: 'This key does not exist.',
  412: 'This entry has changed.',
  413: 'App storage quota exceeded.',
}

function expectDocumented({ status, headers, body }: Answer) {
  expect([status, body?.detail]).toEqual([expect.toBeOneOf([200, 204, 404, 412, 413]), details[status]])
  if (status <= 204) expect(Number(headers['x-storage-used'])).toBeLessThanOrEqual(Number(headers['x-storage-limit']))
}

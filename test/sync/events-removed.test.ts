import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import type { ApiError } from '../../routers/kernel/errors.ts'
import { eventCursors } from '../../routers/webhooks/feed/fetch.ts'
import { readEvents } from '../../routers/webhooks/feed/read.ts'
import { purgeEvents } from '../../server/webhooks/purge.ts'
import { seed } from '../support/chance.ts'
import { times } from '../support/rounds.ts'
import { startQueue } from '../webhooks/queue-world.ts'

const DAY_MS = 86_400_000
const LIMIT = 2

/** As docs/sync.md says: after 410 it begins again without `since`. */
class Reader {
  /** The ids that it has read since each beginning. */
  readonly passes: string[][] = [[]]
  #cursor: string | undefined
  readonly #db: Database
  readonly #app: string
  readonly #cursors: ReturnType<typeof eventCursors>

  constructor({ db, app, cipher }: Awaited<ReturnType<typeof startQueue>>) {
    this.#db = db
    this.#app = app
    this.#cursors = eventCursors(cipher, app)
  }

  /** One page; false once it has everything. */
  async read(): Promise<boolean> {
    const since = this.#cursor === undefined ? undefined : this.#cursors.readPosition(this.#cursor)
    try {
      const { events, next, more } = await readEvents(this.#db, this.#app, { since, limit: LIMIT }, async () => {})
      this.passes.at(-1)!.push(...events.map(({ id }) => id))
      this.#cursor = this.#cursors.of(next)
      return more
    } catch (error) {
      if ((error as ApiError).id !== 'cursorExpired') throw error
      this.#cursor = undefined
      this.passes.push([])
      return true
    }
  }
}

const steps = ['publish', 'publish pending', 'finish first', 'finish last', 'pass days', 'read'] as const
type Step = (typeof steps)[number]
/** More of what lets events stay. */
const step = fc.constantFrom(...steps, 'publish pending', 'publish pending', 'read')

it('a reader that begins again after 410 gets every event that stays, in whatever order they are removed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (taken) => {
      const world = await startQueue()
      const { db, app } = world
      const subscription = await world.subscribe()
      const reader = new Reader(world)
      const pending: string[] = []
      let now = Date.parse('2026-01-01T00:00:00Z')
      let removals = 0
      const finish = (id: string | undefined) =>
        id === undefined
          ? undefined
          : db.delivery.update({
              where: { id },
              data: { state: 'delivered', nextAttemptAt: null, finishedAt: new Date(now) },
            })
      const publish = async () => (await world.publish(subscription, { at: ++now }))[0]!
      const take: Record<Step, () => unknown> = {
        publish: async () => finish(await publish()),
        'publish pending': async () => pending.push(await publish()),
        'finish first': () => finish(pending.shift()),
        'finish last': () => finish(pending.pop()),
        async 'pass days'() {
          now += 12 * DAY_MS
          if ((await purgeEvents(db, now, { keepDays: 30 })) > 0) removals++
          // The others were removed with their events.
          const left = await db.delivery.findMany({ where: { id: { in: pending } }, select: { id: true } })
          pending.splice(0, pending.length, ...pending.filter((one) => left.some(({ id }) => id === one)))
        },
        read: () => reader.read(),
      }
      for (const one of taken) await take[one]()
      let pages = 0
      while (await reader.read()) expect(++pages).toBeLessThanOrEqual(taken.length)

      const stored = await db.publishedEvent.findMany({ where: { appId: app }, orderBy: { publishedAt: 'asc' } })
      const ids = stored.map(({ id }) => id)
      const seen = new Set(reader.passes.flat())
      expect(ids.filter((id) => !seen.has(id))).toEqual([])
      for (const pass of reader.passes) {
        expect(new Set(pass).size).toBe(pass.length)
        expect(pass.filter((id) => ids.includes(id))).toEqual(ids.filter((id) => pass.includes(id)))
      }
      // Each 410 is of a removal since the beginning before it.
      expect(reader.passes.length - 1).toBeLessThanOrEqual(removals)
    }),
    // To make a failure smaller would take minutes.
    { numRuns: times(60, 8), seed, endOnFailure: true },
  )
})

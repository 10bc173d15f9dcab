import { afterAll, expect, it } from 'vitest'
import { readEvents } from '../../routers/webhooks/feed/read.ts'
import { mintTenants, openWith } from '../storage/tenants.ts'
import { times } from '../support/rounds.ts'
import { id } from '../support/tenant.ts'

/** As of two nodes. */
const pools = [openWith({}), openWith({})] as const
afterAll(() => Promise.all(pools.map((db) => db.$disconnect())))

const PUBLISHERS = 8
const EACH = times(60, 12)

it('readers that page while eight publish on two nodes miss and repeat no event, and agree on the order', async () => {
  const { apps } = await mintTenants(pools[0])
  const row = (event: string) => ({ appId: apps[0], id: event, type: 't', body: `"${event}"`, publishedAt: new Date() })
  let publishing = PUBLISHERS

  /** Every second event is stored before another one, and committed after it. */
  async function publisher(number: number) {
    const [own, other] = [pools[number % 2]!, pools[(number + 1) % 2]!]
    for (let i = 0; i < EACH; i++) {
      const [late, early] = [id('late'), id('early')]
      await own.$transaction(async (tx) => {
        await tx.publishedEvent.create({ data: row(late) })
        await other.publishedEvent.create({ data: row(early) })
      })
    }
    publishing--
  }

  async function reader(number: number) {
    const seen: string[] = []
    for (let since = 0; ; ) {
      const ended = publishing === 0
      const page = await readEvents(pools[number % 2]!, apps[0], { since, limit: 1 + number }, async () => {})
      seen.push(...page.events.map((event) => event.id))
      since = page.next
      if (ended && !page.more) break
    }
    return seen
  }

  const readers = [0, 1, 2, 30].map(reader)
  await Promise.all(Array.from({ length: PUBLISHERS }, (_, number) => publisher(number)))
  const seen = await Promise.all(readers)
  const stored = await pools[0].publishedEvent.findMany({ where: { appId: apps[0] }, orderBy: { number: 'asc' } })
  expect(stored).toHaveLength(PUBLISHERS * EACH * 2)
  for (const one of seen) expect(one).toEqual(stored.map((event) => event.id))
})

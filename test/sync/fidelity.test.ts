import { afterAll, beforeAll, describe, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { expectBytes, expectSame, startStorage } from '../storage/exact.ts'
import { parsedOtherwise, values } from '../storage/values.ts'
import { times } from '../support/rounds.ts'

/** All values; in `npm test` without that of 9 MB. */
const own = values.filter(([, text]) => text.length < times(Number.POSITIVE_INFINITY, 1_000_000))

describe('a value', () => {
  let storage: Awaited<ReturnType<typeof startStorage>>
  beforeAll(async () => {
    storage = await startStorage()
  })
  afterAll(() => storage.world.close())

  it('is returned byte for byte on a page over REST and tRPC, as it is in the storage', async () => {
    const typed: string[] = []
    for (const [i, [, text]] of own.entries()) {
      const place = { collection: 'all', key: `v${String(i).padStart(3, '0')}`, scope: 'org' } as const
      typed.push((await storage.put(place, text)).typed)
    }
    const page = `{"items":[${typed}],"more":false}`
    expectBytes((await storage.sync('/collections/all/entries?limit=200')).bytes, page)
    const input = { collection: 'all', limit: 200 }
    expectBytes((await storage.query('storage.entries', input)).bytes, `{"result":{"data":${page}}}`)
  })

  it.each(parsedOtherwise)('is what JSON.parse returns in this process: %s', async (_, text) => {
    await storage.put({ collection: 'one', key: 'k', scope: 'user' }, text)
    const caller = callAs(storage.world.core, storage.world.principal())
    const { items } = await caller.storage.entries({ collection: 'one', scope: 'user' })
    expectSame(items[0]!.value, JSON.parse(text))
  })
})

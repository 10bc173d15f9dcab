import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { callerOf, coreOf, mintTenants, openWith } from '../storage/tenants.ts'
import { times } from '../support/rounds.ts'

const db = openWith({})
afterAll(() => db.$disconnect())

/** Few, so that many are on the edge of a page. */
const key = fc.stringMatching(/^[AZa_-][09a]?$/)

const plan = fc.record({
  untouched: fc.uniqueArray(key, { maxLength: 20 }),
  written: fc.uniqueArray(key, { minLength: 1, maxLength: 10 }),
  limit: fc.integer({ min: 1, max: 6 }),
  prefix: fc.constantFrom(undefined, undefined, 'a', 'A'),
  values: fc.boolean(),
  /** Of the page with this number. */
  rounds: fc.array(
    fc.array(fc.record({ index: fc.nat(), does: fc.constantFrom('put' as const, 'delete' as const) }), {
      maxLength: 4,
    }),
    { minLength: 1, maxLength: 5 },
  ),
})

describe('a reader of all pages, beside writers of other keys', () => {
  it('sees each entry that nobody writes exactly once, all in order, and none that never was', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ untouched, written, limit, prefix, values, rounds }) => {
        const tenants = await mintTenants(db)
        const { storage } = callerOf(coreOf(db), tenants, 0, 0, 0)
        const changing = written.filter((name) => !untouched.includes(name))
        const put = (name: string) => storage.put({ collection: 'c', key: name, value: name })
        for (const name of [...untouched, ...changing]) await put(name)

        const write = async (index: number, does: 'put' | 'delete') => {
          const name = changing[index % changing.length]
          if (name === undefined) return
          if (does === 'put') await put(name)
          // Another of the round may have deleted it.
          else await storage.delete({ collection: 'c', key: name }).catch(({ status }) => expect(status).toBe(404))
        }
        const seen: { key: string; value?: unknown }[] = []
        let more = true
        for (let page = 0; more; page++) {
          const after = seen.at(-1)?.key
          const asked = { collection: 'c', limit, prefix, values, ...(after !== undefined && { after }) }
          const round = rounds[page % rounds.length]!
          // While the page is read, and before the next one.
          const [read] = await Promise.all([
            storage.entries(asked),
            ...round.slice(0, 2).map(({ index, does }) => write(index, does)),
          ])
          for (const { index, does } of round.slice(2)) await write(index, does)
          expect(read.items.length).toBeLessThanOrEqual(limit)
          if (read.more) expect(read.items).toHaveLength(limit)
          seen.push(...read.items)
          more = read.more
        }
        const keys = seen.map((item) => item.key)
        expect(keys).toEqual([...new Set(keys)].sort())
        const wanted = untouched.filter((name) => name.startsWith(prefix ?? '')).sort()
        expect(keys.filter((name) => untouched.includes(name))).toEqual(wanted)
        for (const { key, value } of seen) {
          expect([...untouched, ...changing]).toContain(key)
          expect(key.startsWith(prefix ?? '')).toBe(true)
          expect(value).toBe(values ? key : undefined)
        }
      }),
      { numRuns: times(200, 30) },
    )
  })
})

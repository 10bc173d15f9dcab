import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Json } from '../../routers/kernel/json.ts'
import {
  callerOf,
  coreOf,
  countersOf,
  entriesOf,
  mintTenants,
  openWith,
  sumsOf,
  talliesOf,
  tallyRowsOf,
} from '../storage/tenants.ts'
import { times } from '../support/rounds.ts'

const db = openWith({})
afterAll(() => db.$disconnect())

const QUOTA = 60

const operation = fc.record({
  op: fc.constantFrom('put', 'put', 'delete', 'get'),
  scope: fc.constantFrom('org', 'user'),
  collection: fc.constantFrom('c', 'd'),
  key: fc.constantFrom('a', 'b'),
  value: fc.nat(20).map((bytes) => 'x'.repeat(bytes)) as fc.Arbitrary<Json>,
  condition: fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('current', 'stale', 'any', 'none', 'not current') },
  ),
})
type Drawn = typeof operation extends fc.Arbitrary<infer T> ? T : never

/** An entry as the model knows it: the ETag of one that the batch itself has put is unknown, as it is to a client. */
interface Entry {
  value: Json
  etag: string | undefined
}
type State = Map<string, Entry>

const addressOf = ({ scope, collection, key }: Drawn) => `${scope} ${collection} ${key}`
const bytesOf = (state: State) => [...state.values()].reduce((sum, { value }) => sum + JSON.stringify(value).length, 0)

/** The precondition of an operation by the state before its batch. */
function conditionOf(drawn: Drawn, before: State): { ifMatch?: string; ifNoneMatch?: string } {
  const current = before.get(addressOf(drawn))?.etag ?? '"none"'
  switch (drawn.condition) {
    case 'current':
      return { ifMatch: `"x", ${current}` }
    case 'stale':
      return { ifMatch: '"x"' }
    case 'any':
      return { ifMatch: '*' }
    case 'none':
      return { ifNoneMatch: '*' }
    case 'not current':
      return { ifNoneMatch: current }
    default:
      return {}
  }
}

function meets(drawn: Drawn, entry: Entry | undefined, before: State): boolean {
  const isCurrent = entry?.etag !== undefined && entry.etag === before.get(addressOf(drawn))?.etag
  switch (drawn.condition) {
    case 'current':
      return isCurrent
    case 'stale':
      return false
    case 'any':
      return entry !== undefined
    case 'none':
      return entry === undefined
    case 'not current':
      return !isCurrent
    default:
      return true
  }
}

/** What a batch does by the document: the state after it, with results by index, or the refusal. */
function applied(batch: readonly Drawn[], before: State) {
  const state: State = new Map(before)
  const results: object[] = []
  for (const [index, drawn] of batch.entries()) {
    const entry = state.get(addressOf(drawn))
    if (!meets(drawn, entry, before)) return { refusal: `Operation ${index}: This entry has changed.` }
    const etag = entry?.etag ?? expect.any(String)
    if (drawn.op === 'get') {
      const { key } = drawn
      results.push(entry ? { key, value: entry.value, updatedAt: expect.any(Number), etag } : { key, missing: true })
    } else if (drawn.op === 'put') {
      state.set(addressOf(drawn), { value: drawn.value, etag: undefined })
      results.push({ etag: expect.any(String), updatedAt: expect.any(Number) })
    } else results.push({ deleted: state.delete(addressOf(drawn)) })
  }
  const isFull = bytesOf(state) > QUOTA && bytesOf(state) > bytesOf(before)
  return isFull ? { refusal: 'App storage quota exceeded.' } : { state, results }
}

describe('random batches', () => {
  it('do what the document says, and leave usage and tallies exact', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(operation, { minLength: 1, maxLength: 8 }), { maxLength: 8 }),
        async (batches) => {
          const tenants = await mintTenants(db)
          const { storage } = callerOf({ ...coreOf(db), storageQuotaBytes: QUOTA }, tenants, 0, 0, 0)
          let state: State = new Map()
          for (const batch of batches) {
            const operations = batch.map((drawn) => {
              const { condition, value, ...given } = drawn
              return { ...given, ...(given.op === 'put' && { value }), ...conditionOf(drawn, state) } as const
            })
            const wanted = applied(batch, state)
            const reply = await storage
              .batch({ operations: operations as never })
              .catch(({ message }: Error) => message)
            if (wanted.refusal !== undefined) expect(reply).toBe(wanted.refusal)
            else {
              expect(reply).toEqual({ results: wanted.results })
              state = wanted.state!
            }
            const entries = await entriesOf(db, tenants)
            for (const { owner, collection, key, version } of entries) {
              const entry = state.get(`${owner === '' ? 'org' : 'user'} ${collection} ${key}`)
              if (entry) entry.etag = `"${version}"`
            }
            const found = entries.map(({ owner, collection, key, value }) => [
              `${owner === '' ? 'org' : 'user'} ${collection} ${key}`,
              JSON.parse(value),
            ])
            expect(Object.fromEntries(found)).toEqual(
              Object.fromEntries([...state].map(([address, { value }]) => [address, value])),
            )
            expect(await countersOf(db, tenants)).toEqual(sumsOf(entries))
            expect(await tallyRowsOf(db, tenants)).toEqual(talliesOf(entries))
          }
        },
      ),
      { numRuns: times(300, 15) },
    )
  })
})

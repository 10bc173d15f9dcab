import { Agent } from 'node:http'
import fc from 'fast-check'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { dataDirectory, start } from '../../process/service.ts'
import { request } from '../../storage/client.ts'
import type { Answer, Ask, Operation } from '../../storage/linearizable.ts'
import { isLinearizable } from '../../storage/linearizable.ts'
import { times } from '../../support/rounds.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'
import { useWorld } from '../../support/started.ts'
import { id } from '../../support/tenant.ts'
import { demoToken } from '../demo.ts'

const world = useWorld()
const agent = new Agent({ keepAlive: true })
afterAll(() => agent.destroy())

const KEYS = ['a', 'b', 'c']

const step = fc.record({
  service: fc.nat(1),
  key: fc.constantFrom(...KEYS),
  method: fc.constantFrom('GET', 'GET', 'PUT', 'PUT', 'PUT', 'DELETE'),
  header: fc.constantFrom('none', 'ifMatch', 'ifMatch', 'ifNoneMatch', 'ifNoneMatch'),
  /** `any`: `*`; `newest` and `older`: tags that clients received; `foreign`: an unknown tag. */
  tag: fc.constantFrom('any', 'newest', 'newest', 'older', 'foreign'),
  /** Whether the client disconnects before its answer. */
  leaves: fc.constantFrom(...Array<boolean>(19).fill(false), true),
} as const)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
const CLIENTS = 5
const STEPS = 10
const lists = <T>(of: fc.Arbitrary<T>, length: number) => fc.array(of, { minLength: length, maxLength: length })
const plan = fc.record({
  /** The steps of each client, in order. */
  clients: lists(lists(step, STEPS), CLIENTS),
  /** Steps at which all clients wait for each other and then write one key with the same tag. */
  rushes: fc.uniqueArray(fc.nat(STEPS - 1), { minLength: 2, maxLength: 4 }),
})
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never

const RUSH = { key: KEYS[0]!, method: 'PUT', header: 'ifMatch', tag: 'newest' } as const

const documented: Record<Ask['method'], number[]> = { GET: [200, 304, 404], PUT: [200, 412], DELETE: [204, 404, 412] }
const details: Record<number, string> = { 404: 'This key does not exist.', 412: 'This entry has changed.' }

describe('two services on one database', () => {
  it('behave as one register for each key', async () => {
    const DATA_DIR = await dataDirectory()
    const env = { DATABASE_URL: inject('databaseUrl'), DATA_DIR, SECRETS_KEY, WEBHOOK_WORKER: 'false' }
    const services = [await start(env), await start(env)]
    const { member, club, client } = world.ids
    const token = await demoToken(DATA_DIR, { member, organisation: club, client })

    const send = async ({ method, value, ifMatch, ifNoneMatch }: Ask, path: string, port: number, leaves: boolean) => {
      const reply = await request(port, method, path, token, {
        agent,
        leaves,
        headers: { ...(ifMatch && { 'if-match': ifMatch }), ...(ifNoneMatch && { 'if-none-match': ifNoneMatch }) },
        body: value === undefined ? undefined : JSON.stringify({ value }),
      })
      return reply && toAnswer(method, reply.status, reply.headers.etag, reply.text)
    }

    const run = async ({ clients, rushes }: Plan) => {
      const collection = id('history')
      const history = KEYS.map((key) => ({ key, tags: [] as string[], operations: [] as Operation[] }))
      const meet = meeting(clients.length)
      let clock = 0
      await Promise.all(
        clients.map(async (steps) => {
          for (const [i, planned] of steps.entries()) {
            const isRush = rushes.includes(i)
            if (isRush) await meet()
            const { service, key, method, header, tag, leaves } = isRush ? { ...planned, ...RUSH } : planned
            const { tags, operations } = history.find((one) => one.key === key)!
            const called = ++clock
            const ask: Ask = { method, ...(method === 'PUT' && { value: `at ${called}` }) }
            const isKnown = method !== 'GET' || (header === 'ifNoneMatch' && tag !== 'any')
            if (header !== 'none' && isKnown) ask[header] = chooseTag(tag, tags)
            const answer = await send(ask, `/storage/${collection}/${key}`, services[service]!.port, leaves)
            operations.push({ ask, answer, called, returned: ++clock })
            if (answer?.etag) tags.push(answer.etag)
          }
        }),
      )
      for (const { key, operations } of history) {
        if (!isLinearizable(operations)) throw new Error(`No register does this to ${key}:\n${written(operations)}`)
      }
      return history.flatMap(({ operations }) => operations)
    }

    const seen = new Set<string>()
    const property = fc.asyncProperty(plan, async (planned) => {
      for (const { ask, answer } of await run(planned)) seen.add(`${ask.method} ${answer?.status}`)
    })
    // No shrinking: the timing of the network is not in the seed.
    await fc.assert(property, { numRuns: times(40, 10), endOnFailure: true })
    // The histories covered every documented answer, and some answers were lost.
    const all = Object.entries(documented).flatMap(([method, list]) => list.map((status) => `${method} ${status}`))
    expect([...seen].filter((answer) => !answer.endsWith('undefined')).sort()).toEqual(all.sort())
    expect(seen).toContain('PUT undefined')
  })
})

function toAnswer(method: Ask['method'], status: number, etag: string | undefined, text: string): Answer {
  expect(documented[method], `${method}: ${text}`).toContain(status)
  if (details[status] !== undefined) expect(JSON.parse(text)).toEqual({ detail: details[status] })
  if (status === 200 || status === 304) expect(etag).toMatch(/^"[^"]+"$/)
  else expect(etag).toBeUndefined()
  if (status !== 200) return { status, etag }
  return { status, etag, value: JSON.parse(text).value }
}

/** A reusable barrier for `size` callers. */
function meeting(size: number): () => Promise<void> {
  let waiting: (() => void)[] = []
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length < size) return
      for (const go of waiting) go()
      waiting = []
    })
}

function chooseTag(which: Step['tag'], tags: string[]): string {
  if (which === 'any') return '*'
  const known = which === 'newest' ? tags.at(-1) : which === 'older' ? tags.at(-3) : undefined
  return known ?? '"foreign"'
}

const written = (operations: Operation[]) =>
  operations
    .toSorted((a, b) => a.called - b.called)
    .map(({ called, returned, ask, answer }) => `${called}-${returned} ${JSON.stringify({ ...ask, answer })}`)
    .join('\n')

import { describe, it } from 'vitest'
import { z } from 'zod'
import { procedures } from '../../../routers/index.ts'
import { readDefinition } from '../../../routers/kernel/trpc-internals.ts'
import { startTeamWorld } from '../../developer/team-world.ts'
import { platformClaims } from '../../support/platform.ts'
import { started } from '../../support/started.ts'
import type { Input } from './costly-inputs.ts'
import { asPath, encoded, expectCheap, IN_BODY, IN_HEAD, noLimits } from './costly-inputs.ts'
import { jsonShapes, shapes } from './costly-shapes.ts'

const one = started(
  async () => {
    const team = await startTeamWorld({ auth: {}, limits: noLimits, onLog: () => {} })
    const { world, owner } = team
    return {
      world,
      port: world.internalPort,
      client: (await team.sandbox()).id,
      ofMember: await world.token(),
      ofPlatform: await world.token(platformClaims(world)),
      ofOwner: await world.token(platformClaims(world, { sub: owner })),
    }
  },
  ({ world }) => world.close(),
)

const isDeveloper = (name: string) => name.startsWith('developer.')
const chooseToken = (name: string) => {
  if (isDeveloper(name)) return one.ofOwner
  return /^(?:directory|subscriptions|events|deliveries|quizzes\.review)/.test(name) ? one.ofPlatform : one.ofMember
}

/** A part of JSON Schema: what the inputs of procedures use. */
interface Schema {
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  allOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  examples?: unknown[]
  minimum?: number
}

const readSchema = (name: string): Schema => {
  const [input] = readDefinition(procedures[name]!).inputs
  return input ? (z.toJSONSchema(input, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Schema) : {}
}

/** A value that the schema takes, as far as it says. */
function makeSample(schema: Schema): unknown {
  const { examples, const: constant, enum: options, anyOf, allOf, properties, items, minimum } = schema
  if (examples) return examples[0]
  if (constant !== undefined) return constant
  if (options) return options[0]
  if (anyOf ?? allOf) return makeSample((anyOf ?? allOf)![0]!)
  if (properties) return Object.fromEntries(Object.entries(properties).map(([key, one]) => [key, makeSample(one)]))
  if (items) return [makeSample(items)]
  return schema.type === 'string' ? 'a' : (minimum ?? 1)
}

type Path = readonly (string | number)[]

/** Where the input has a value; of a list in its first item. */
function listPaths(value: unknown, at: Path = []): Path[] {
  const inside = typeof value === 'object' && value !== null ? Object.entries(value).slice(0, 20) : []
  return [...(at.length > 0 ? [at] : []), ...inside.flatMap(([key, one]) => listPaths(one, [...at, key]))]
}

/** Any value of JSON, as objects and lists have their values by key. */
type Values = Record<string | number, unknown>

const valueAt = (value: unknown, path: Path) => path.reduce((object, key) => (object as Values)[key], value)

const MARK = 'shape-here'
/** The input as JSON with that text in place of one of its values. */
function withJson(sample: unknown, path: Path, json: string) {
  const copy = structuredClone(sample)
  const above = valueAt(copy, path.slice(0, -1)) as Values
  above[path.at(-1)!] = MARK
  return JSON.stringify(copy).replace(`"${MARK}"`, () => json)
}

/** What exists, in place of examples. */
const known = () => ({
  team: one.world.ids.team,
  app: one.world.ids.app,
  client: one.client,
  id: one.world.ids.app,
  provider: one.world.ids.provider,
  version: 0,
  // Any other is decoded, in a worker.
  picture: '-',
})

const named = Object.keys(procedures).filter((name) => readDefinition(procedures[name]!).type !== 'subscription')

describe.each(named)('at %s', (name) => {
  const isQuery = () => readDefinition(procedures[name]!).type === 'query'
  const call = (json: string): Input => {
    const [authorization, host] = [`Bearer ${chooseToken(name)}`, 'localhost']
    const input = { port: one.port, host, path: `/trpc/${name}`, headers: { authorization } }
    if (isQuery()) return { ...input, path: `/trpc/${name}?input=${encoded(json, IN_HEAD - 1_500)}` }
    return { ...input, method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: json }
  }

  it('no input, and no field of it, costs 20 ms more than an ordinary one', async () => {
    const length = isQuery() ? IN_HEAD - 1_800 : IN_BODY - 1_000
    await expectCheap(`${name}, the input`, call, length, jsonShapes)
    const sample = makeSample(readSchema(name))
    const fields = Object.keys((sample ?? {}) as object)
    const existing = Object.fromEntries(Object.entries(known()).filter(([key]) => fields.includes(key)))
    const full = { ...(sample as object), ...(isDeveloper(name) && existing) }
    for (const path of listPaths(full)) {
      const place = `${name}, ${path.join('.')}`
      const inText = (text: string) => call(withJson(full, path, JSON.stringify(text)))
      if (typeof valueAt(full, path) === 'string') await expectCheap(place, inText, length)
      await expectCheap(place, (json) => call(withJson(full, path, json)), length, jsonShapes)
    }
  })
})

const inTrpc = (path: string, body?: string): Input => ({
  port: one.port,
  host: 'localhost',
  path: asPath(path),
  ...(body !== undefined && { method: 'POST', body }),
  headers: { authorization: `Bearer ${one.ofMember}`, 'content-type': 'application/json' },
})

const batches: Record<string, (text: string) => Input> = {
  'a name': (text) => inTrpc(`/trpc/${text.slice(0, IN_HEAD - 1_500)}`),
  'names of a batch': (text) => inTrpc(`/trpc/${text.slice(0, IN_HEAD - 1_500)}?batch=1`),
  'names of a batch with a body': (text) => inTrpc(`/trpc/${text.slice(0, IN_HEAD - 1_500)}?batch=1`, '{}'),
  'the input of a query': (text) => inTrpc(`/trpc/storage.list?input=${encoded(text, IN_HEAD - 1_500)}`),
  'the input of a mutation': (text) => inTrpc('/trpc/storage.put', text),
  'the inputs of a batch': (text) => inTrpc('/trpc/me.profile,storage.list?batch=1', text),
  'the query': (text) => inTrpc(`/trpc/me.profile?${text.slice(0, IN_HEAD - 1_500)}`),
}
const batchShapes = {
  ...shapes,
  ...jsonShapes,
  'names of procedures': (length: number) => 'me.profile,'.repeat(length / 11),
  'names of nothing': (length: number) => 'a,'.repeat(length / 2),
}

it.each(Object.entries(batches))('no shape of %s costs 20 ms more than an ordinary one', async (what, buildInput) => {
  await expectCheap(`tRPC, ${what}`, buildInput, IN_BODY, batchShapes)
})

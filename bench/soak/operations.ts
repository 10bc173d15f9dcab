import { randomUUID } from 'node:crypto'
import type { KindName } from '../../routers/directory/kinds.ts'
import { kindNames } from '../../routers/directory/kinds.ts'
import { appRouter } from '../../routers/index.ts'
import { sampleRecords } from '../../test/directory/sample-records.ts'
import type { Reply } from '../../test/support/request.ts'
import { send } from '../../test/support/request.ts'
import { id } from '../../test/support/tenant.ts'
import { ofTeams } from './team-operations.ts'
import type { World } from './world.ts'

export interface Operation {
  /** The procedure's. */
  name: string
  /** Statuses that are right for what it sends. */
  right: readonly number[]
  /** How often it is chosen, against 1. */
  weight?: number
  run: () => Promise<Reply>
}

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)]!
const value = () => ({ note: 'x'.repeat(10 + Math.floor(Math.random() ** 4 * 20_000)), at: Date.now() })

/** Every procedure of the service, over HTTP through the proxy. Throws when one has no operation here. */
export async function openOperations(world: World): Promise<Operation[]> {
  const { ids, topology } = world
  const people = world.people.slice(0, 20)
  const tokens = new Map<string, string>()
  for (const person of people) {
    for (const section of ['apps', 'lms', 'notify'] as const) {
      tokens.set(`${section} ${person}`, await world.memberToken(section, person))
    }
  }
  const hobby = await world.memberToken('apps', people[0]!, world.hobby)
  const [ofProvider, ofAcademy] = [await world.platformToken(ids.provider), await world.platformToken(ids.academy)]

  const rest =
    (method: string, path: () => string, body?: () => unknown, section: 'apps' | 'lms' | 'notify' = 'apps') =>
    () => {
      // A client of the hobby team is refused most of the time, by the limit that all nodes share.
      const isHobby = section === 'apps' && Math.random() < 0.05
      const token = isHobby ? hobby : tokens.get(`${section} ${pick(people)}`)!
      const headers = { host: `${section}.test`, authorization: `Bearer ${token}`, 'idempotency-key': randomUUID() }
      return send(topology.publicPort, method, `/v1${path()}`, { headers, body: body?.() })
    }
  const trpc = (type: 'GET' | 'POST', name: string, input: unknown, token = ofProvider) => {
    const query = type === 'GET' ? `?input=${encodeURIComponent(JSON.stringify(input))}` : ''
    const headers = { authorization: `Bearer ${token}` }
    return send(topology.internalPort, type, `/trpc/${name}${query}`, {
      headers,
      ...(type === 'POST' && { body: input }),
    })
  }
  const [subscriptions, deliveries, results]: string[][] = [[], [], []]
  const keep = (list: string[], found: string[]) =>
    void list.splice(0, list.length, ...[...found, ...list].slice(0, 50))
  const entry = () => `/storage/soak/k${Math.floor(Math.random() * 100)}`
  const hook = () => ({
    url: world.receiver.url('/hook'),
    secret: `whsec_${Buffer.alloc(24, 'soak').toString('base64')}`,
  })
  const webhookPath = () => `/apps/${world.webhooks}/webhook`
  const me = ['profile', 'groups', 'events', 'trainingplans', 'competitions', 'membercard']

  // Where subscriptions get their address from.
  const first = await rest('PUT', () => `/apps/${ids.app}/webhook`, hook, 'notify')()
  if (first.status !== 200) throw new Error(`No webhook: ${first.status} ${first.text}`)

  const operations: Operation[] = [
    { name: 'root', right: [200], run: rest('GET', () => '') },
    ...me.map(
      (name): Operation => ({
        name: `me.${name}`,
        right: name === 'membercard' ? [200, 404] : [200],
        weight: 2,
        run: rest('GET', () => `/me/${name}`),
      }),
    ),
    { name: 'storage.get', right: [200, 404], weight: 20, run: rest('GET', entry) },
    { name: 'storage.put', right: [200], weight: 10, run: rest('PUT', entry, () => ({ value: value() })) },
    { name: 'storage.list', right: [200], weight: 5, run: rest('GET', () => '/storage/soak') },
    { name: 'storage.delete', right: [204, 404], weight: 2, run: rest('DELETE', entry) },
    {
      name: 'quizzes.submit',
      right: [201],
      async run() {
        const answers = () => ({ answers: { q1: pick(['Yes', 'No']), q2: 'Because.' } })
        const reply = await rest('POST', () => `/quizzes/${world.quiz}/results`, answers, 'lms')()
        if (reply.status === 201) keep(results!, [reply.body.id])
        return reply
      },
    },
    {
      name: 'quizzes.review',
      right: [200, 404, 409],
      run: () => trpc('POST', 'quizzes.review', { result: results!.pop() ?? 'none', grades: { q2: true } }, ofAcademy),
    },
    { name: 'webhook.put', right: [200], run: rest('PUT', webhookPath, hook, 'notify') },
    { name: 'webhook.get', right: [200, 404], run: rest('GET', webhookPath, undefined, 'notify') },
    { name: 'webhook.delete', right: [204, 404], run: rest('DELETE', webhookPath, undefined, 'notify') },
    {
      name: 'subscriptions.create',
      right: [200],
      async run() {
        const reply = await trpc('POST', 'subscriptions.create', { app: ids.app, subscriber: id('subscriber') })
        if (reply.status === 200) subscriptions!.push(reply.body.result.data.id)
        return reply
      },
    },
    { name: 'subscriptions.list', right: [200], run: () => trpc('GET', 'subscriptions.list', { app: ids.app }) },
    // As often as the one that creates them, and a few stay.
    {
      name: 'subscriptions.remove',
      right: [200, 404],
      run: () =>
        trpc('POST', 'subscriptions.remove', { id: (subscriptions!.length > 3 && subscriptions!.shift()) || 'none' }),
    },
    {
      name: 'events.publish',
      right: [200],
      weight: 2,
      run: () => trpc('POST', 'events.publish', { app: ids.app, type: 'soak.ran', data: value() }),
    },
    {
      name: 'events.describe',
      right: [200],
      weight: 0.3,
      run: () =>
        trpc('POST', 'events.describe', {
          type: 'soak.ran',
          description: 'The soak ran.',
          example: { at: Date.now() },
        }),
    },
    {
      name: 'events.undescribe',
      right: [200],
      weight: 0.3,
      run: () => trpc('POST', 'events.undescribe', { type: 'soak.ran' }),
    },
    { name: 'events.kinds', right: [200], weight: 0.3, run: () => trpc('GET', 'events.kinds', {}) },
    {
      name: 'deliveries.list',
      right: [200],
      async run() {
        const reply = await trpc('GET', 'deliveries.list', {})
        if (reply.status === 200)
          keep(
            deliveries!,
            reply.body.result.data.items.map((one: { id: string }) => one.id),
          )
        return reply
      },
    },
    {
      name: 'deliveries.retry',
      right: [200, 404, 409],
      run: () => trpc('POST', 'deliveries.retry', { id: deliveries!.pop() ?? 'none' }),
    },
    ...(await ofDirectory(ids.academy, trpc)),
    ...(await ofTeams(world, trpc)),
  ]
  const missing = Object.keys(appRouter._def.procedures).filter((name) => !operations.some((one) => one.name === name))
  if (missing.length > 0) throw new Error(`The soak has no operation for ${missing.join(', ')}`)
  return operations
}

type Trpc = (type: 'GET' | 'POST', name: string, input: unknown) => Promise<Reply>

async function ofDirectory(academy: string, trpc: Trpc): Promise<Operation[]> {
  const upsert = (kind: KindName, item: object) => trpc('POST', `directory.${kind}.upsert`, { items: [item] })
  const samples: Record<string, Record<string, unknown>> = { ...sampleRecords() }
  samples.lessons!.academy = academy
  samples.quizzes!.academy = academy
  for (const kind of kindNames) {
    const reply = await upsert(kind, samples[kind]!)
    if (reply.status !== 200) throw new Error(`${kind}: ${reply.status} ${reply.text}`)
  }
  const person = () => ({ id: id('person'), firstName: 'P', lastName: 'P', email: '' })
  const nobody: Record<string, () => unknown> = {
    memberships: () => ({ organisation: samples.organisations!.id, person: id('none') }),
    groupMembers: () => ({ group: samples.groups!.id, person: id('none'), role: 'member' }),
  }
  return [
    ...kindNames.flatMap((kind): Operation[] => [
      { name: `directory.${kind}.upsert`, right: [200], weight: 0.3, run: () => upsert(kind, samples[kind]!) },
      {
        name: `directory.${kind}.end`,
        right: [200],
        weight: 0.3,
        run: () => trpc('POST', `directory.${kind}.end`, { ids: [nobody[kind]?.() ?? id('none')] }),
      },
      {
        name: `directory.${kind}.list`,
        right: [200],
        weight: 0.3,
        run: () => trpc('GET', `directory.${kind}.list`, { limit: 20 }),
      },
    ]),
    {
      name: 'directory.people.export',
      right: [200],
      run: () => trpc('GET', 'directory.people.export', { id: samples.people!.id }),
    },
    {
      name: 'directory.people.erase',
      right: [200],
      async run() {
        const item = person()
        await upsert('people', item)
        return trpc('POST', 'directory.people.erase', { id: item.id })
      },
    },
  ]
}

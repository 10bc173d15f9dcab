import { randomUUID } from 'node:crypto'
import type { RecordTypeName } from '../../../routers/directory/record-types.ts'
import { recordTypeNames } from '../../../routers/directory/record-types.ts'
import type { Section, TokenSection } from '../../../routers/kernel/scopes.ts'
import { sampleRecords } from '../../directory/sample-records.ts'
import { chance } from '../../support/chance.ts'
import { openEvents } from '../../support/event-stream.ts'
import type { Reply } from '../../support/request.ts'
import { send } from '../../support/request.ts'
import { id } from '../../support/tenant.ts'
import type { Operation, Trpc } from './operation.ts'
import { operation, readIds } from './operation.ts'
import { teamOperations } from './team-operations.ts'
import type { World } from './world.ts'

const draw = chance('operations')
const pick = <T>(from: readonly T[]): T => from[draw(from.length)]!
/** Mostly short, at most 20 KB. */
const value = () => ({ note: 'x'.repeat(10 + Math.floor((draw(1_000) / 1_000) ** 4 * 20_000)), at: Date.now() })

/** Every procedure of the service, over HTTP through the proxy, as test/unit/verify/soak.test.ts holds. */
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
  const ofApp = await world.appToken()
  const [ofProvider, ofAcademy] = [await world.platformToken(ids.provider), await world.platformToken(ids.academy)]

  const rest =
    (
      method: string,
      path: string | (() => string),
      body?: () => unknown,
      section: Section = 'apps',
      taken: TokenSection = section === 'sync' ? 'apps' : section,
    ) =>
    () => {
      // A client of the hobby team is refused most of the time, by the limit that all nodes share.
      const isHobby = section === 'apps' && draw(20) === 0
      const token = isHobby ? hobby : tokens.get(`${taken} ${pick(people)}`)!
      const headers = {
        host: `${section}.localhost`,
        authorization: `Bearer ${token}`,
        'idempotency-key': randomUUID(),
      }
      const address = `/v1${typeof path === 'string' ? path : path()}`
      return send(topology.publicPort, method, address, { headers, body: body?.() })
    }
  const byApp = (method: string, path: string, body?: () => unknown) => () =>
    send(topology.publicPort, method, `/v1${path}`, {
      headers: { host: 'sync.localhost', authorization: `Bearer ${ofApp}` },
      body: body?.(),
    })
  /** Until the first event. */
  const watch = async (): Promise<Reply> => {
    const authorization = `Bearer ${tokens.get(`apps ${pick(people)}`)}`
    const headers = { host: 'sync.localhost', accept: 'text/event-stream', authorization }
    const stream = await openEvents(topology.publicPort, '/v1/collections/soak/changes', headers)
    const [event] = await stream.take(1)
    stream.close()
    return { status: 200, headers: stream.headers, text: event!.text, body: event!.data }
  }
  const trpc: Trpc = (type, name, input, token = ofProvider) => {
    const query = type === 'GET' ? `?input=${encodeURIComponent(JSON.stringify(input))}` : ''
    const headers = { authorization: `Bearer ${token}` }
    const body = type === 'POST' ? input : undefined
    return send(topology.internalPort, type, `/trpc/${name}${query}`, { headers, body })
  }
  const [subscriptions, deliveries, results, addresses]: string[][] = [[], [], [], []]
  const keeping = (list: string[], run: () => Promise<Reply>) => async () => {
    const reply = await run()
    list.splice(0, list.length, ...[...readIds(reply), ...list].slice(0, 50))
    return reply
  }
  const entry = () => `/storage/soak/k${draw(100)}`
  const valued = () => ({ value: value() })
  const batched = () => {
    const address = { collection: 'soak', key: `k${draw(100)}` }
    return pick<object>([
      { op: 'put', ...address, ...valued() },
      { op: 'get', ...address },
      { op: 'delete', ...address },
    ])
  }
  const batch = () => ({ operations: [0, 1, 2].map(batched) })
  const rule = () => ({ rule: pick(['author', 'anyone']) })
  const quiz = `/quizzes/${world.quiz}`
  const result = () => `/quiz-results/${results![0] ?? 'none'}`
  const address = () => `/addresses/${addresses![0] ?? 'none'}`
  const subscribe = () => trpc('POST', 'subscriptions.create', { app, subscriber: id('subscriber') })
  const publish = () => trpc('POST', 'events.publish', { app, type: 'soak.ran', data: value() })
  const listDeliveries = () => trpc('GET', 'deliveries.list', {})
  const secret = `whsec_${Buffer.alloc(24, 'soak').toString('base64')}`
  const hook = () => ({ url: world.receiver.url('/hook'), secret })
  const webhook = `/apps/${world.webhooks}/webhook`
  const answers = () => ({ answers: { q1: pick(['Yes', 'No']), q2: 'Because.' } })
  const { app } = ids
  const soakRan = { type: 'soak.ran', description: 'The soak ran.', example: { at: 1 } }

  // Where subscriptions get their address from.
  const first = await rest('PUT', `/apps/${app}/webhook`, hook, 'notify')()
  if (first.status !== 200) throw new Error(`No webhook: ${first.status} ${first.text}`)

  const me = ['profile', 'groups', 'events', 'trainingplans', 'competitions']
  return [
    operation('root', [200], rest('GET', '')),
    ...me.map((name) => operation(`me.${name}`, [200], rest('GET', `/me/${name}`), 2)),
    operation('me.membercard', [200, 404], rest('GET', '/me/membercard'), 2),
    operation('card.code', [200, 404], rest('GET', '/membercard/code', undefined, 'sync')),
    // This service has no certificate for passes.
    operation('card.pass', [404], rest('GET', '/membercard/pass', undefined, 'sync'), 0.3),
    operation('storage.get', [200, 404], rest('GET', entry), 20),
    operation('storage.put', [200], rest('PUT', entry, valued), 10),
    operation('storage.list', [200], rest('GET', '/storage/soak'), 5),
    operation('storage.collections', [200], rest('GET', '/collections', undefined, 'sync')),
    operation('storage.entries', [200], rest('GET', '/collections/soak/entries', undefined, 'sync'), 5),
    operation('storage.changes', [200], rest('GET', '/collections/soak/changes', undefined, 'sync'), 5),
    operation('storage.watch', [200], watch, 2),
    operation('storage.batch', [200], rest('POST', '/batch', batch, 'sync'), 3),
    operation(
      'calendar.create',
      [201],
      rest('POST', '/calendar', () => ({}), 'sync'),
    ),
    operation('storage.rules.get', [200], byApp('GET', '/collections/soak/rules')),
    operation('storage.rules.put', [200, 429], byApp('PUT', '/collections/soaked/rules', rule)),
    operation('storage.delete', [204, 404], rest('DELETE', entry), 2),
    operation('quizzes.submit', [201], keeping(results!, rest('POST', `${quiz}/results`, answers, 'lms'))),
    operation('quizzes.get', [200], rest('GET', quiz, undefined, 'sync', 'lms')),
    // Another member's result is unknown.
    operation('quizzes.result', [200, 404], rest('GET', result, undefined, 'sync', 'lms')),
    operation('quizzes.review', [200, 404, 409], () =>
      trpc('POST', 'quizzes.review', { result: results!.pop() ?? 'none', grades: { q2: true } }, ofAcademy),
    ),
    operation('webhook.put', [200], rest('PUT', webhook, hook, 'notify')),
    operation('webhook.get', [200, 404], rest('GET', webhook, undefined, 'notify')),
    operation('webhook.delete', [204, 404], rest('DELETE', webhook, undefined, 'notify')),
    operation(
      'addresses.create',
      [201, 409],
      keeping(
        addresses!,
        rest('POST', '/addresses', () => ({ url: hook().url, types: ['soak.ran'] }), 'sync', 'notify'),
      ),
      0.3,
    ),
    operation('addresses.list', [200], rest('GET', '/addresses', undefined, 'sync', 'notify'), 0.3),
    operation(
      'addresses.update',
      [200, 404],
      rest('PUT', address, () => ({ url: hook().url, types: null, state: 'active' }), 'sync', 'notify'),
      0.3,
    ),
    operation(
      'addresses.remove',
      [204, 404],
      rest('DELETE', () => `/addresses/${addresses!.pop() ?? 'none'}`, undefined, 'sync', 'notify'),
      0.3,
    ),
    operation('subscriptions.create', [200], keeping(subscriptions!, subscribe)),
    operation('subscriptions.update', [200, 404, 409], () =>
      trpc('POST', 'subscriptions.update', { id: subscriptions![0] ?? 'none' }),
    ),
    operation('subscriptions.list', [200], () => trpc('GET', 'subscriptions.list', { app })),
    // As often as the one that creates them, and a few stay.
    operation('subscriptions.remove', [200, 404], () => {
      const last = subscriptions!.length > 3 ? subscriptions!.pop() : undefined
      return trpc('POST', 'subscriptions.remove', { id: last ?? 'none' })
    }),
    operation('events.publish', [200], publish, 2),
    operation('events.describe', [200], () => trpc('POST', 'events.describe', soakRan), 0.3),
    operation('events.undescribe', [200], () => trpc('POST', 'events.undescribe', { type: soakRan.type }), 0.3),
    operation('events.fetch', [200], rest('GET', '/events?limit=5', undefined, 'sync', 'notify')),
    operation('events.kinds', [200], () => trpc('GET', 'events.kinds', {}), 0.3),
    operation('deliveries.list', [200], keeping(deliveries!, listDeliveries)),
    operation('deliveries.retry', [200, 404, 409], () =>
      trpc('POST', 'deliveries.retry', { id: deliveries!.pop() ?? 'none' }),
    ),
    ...(await ofDirectory(ids.academy, people[0]!, trpc)),
    ...(await teamOperations(world, trpc)),
  ]
}

/** What a platform writes of clubs and people. */
async function ofDirectory(academy: string, guardian: string, trpc: Trpc): Promise<Operation[]> {
  const upsert = (kind: RecordTypeName, item: object) => trpc('POST', `directory.${kind}.upsert`, { items: [item] })
  const samples: Record<string, Record<string, unknown>> = { ...sampleRecords() }
  samples.lessons!.academy = academy
  samples.quizzes!.academy = academy
  samples.guardians!.guardian = guardian
  for (const kind of recordTypeNames) {
    const reply = await upsert(kind, samples[kind]!)
    if (reply.status !== 200) throw new Error(`${kind}: ${reply.status} ${reply.text}`)
  }
  const nobody: Record<string, () => unknown> = {
    memberships: () => ({ organisation: samples.organisations!.id, person: id('none') }),
    groupMembers: () => ({ group: samples.groups!.id, person: id('none'), role: 'member' }),
    guardians: () => ({ child: samples.people!.id, guardian: id('none') }),
  }
  const end = (kind: RecordTypeName) => trpc('POST', `directory.${kind}.end`, { ids: [nobody[kind]?.() ?? id('none')] })
  return [
    ...recordTypeNames.flatMap((kind) => [
      operation(`directory.${kind}.upsert`, [200], () => upsert(kind, samples[kind]!), 0.3),
      operation(`directory.${kind}.end`, [200], () => end(kind), 0.3),
      operation(`directory.${kind}.list`, [200], () => trpc('GET', `directory.${kind}.list`, { limit: 20 }), 0.3),
    ]),
    operation('directory.approvals.list', [200], () => trpc('GET', 'directory.approvals.list', { limit: 20 })),
    operation('directory.approvals.set', [404], () =>
      trpc('POST', 'directory.approvals.set', { club: samples.groups!.club, app: id('none'), state: 'approved' }),
    ),
    operation('directory.dataRequests.list', [200], () => trpc('GET', 'directory.dataRequests.list', { limit: 20 })),
    operation('directory.dataRequests.answer', [404], () =>
      trpc('POST', 'directory.dataRequests.answer', { id: id('none') }),
    ),
    operation('directory.people.export', [200], () =>
      trpc('GET', 'directory.people.export', { id: samples.people!.id }),
    ),
    operation('directory.people.erase', [200], async () => {
      const item = { id: id('person'), firstName: 'P', lastName: 'P', email: '' }
      await upsert('people', item)
      return trpc('POST', 'directory.people.erase', { id: item.id })
    }),
  ]
}

/** Requests that are to be refused, each with a status below 500. */
export async function openBadInput(world: World): Promise<(() => Promise<Reply>)[]> {
  const { publicPort, internalPort } = world.topology
  const token = await world.memberToken('apps', world.people[0]!)
  const apps = { host: 'apps.localhost', authorization: `Bearer ${token}` }
  const json = { ...apps, 'content-type': 'application/json' }
  const platform = { authorization: `Bearer ${await world.platformToken(world.ids.provider)}` }
  const rest = (method: string, path: string, headers: Record<string, string>, body?: unknown) => () =>
    send(publicPort, method, `/v1/${path}`, { headers, body })
  const trpc =
    (path: string, body: unknown, headers = platform) =>
    () =>
      send(internalPort, 'POST', `/trpc/${path}`, { headers, body })
  return [
    rest('GET', 'me/profile', { host: 'apps.localhost' }),
    rest('GET', 'me/profile', { host: 'apps.localhost', authorization: 'Bearer not.a.token' }),
    rest('GET', 'me/profile', { host: 'apps.localhost', authorization: `Bearer ${token.slice(0, -8)}AAAAAAAA` }),
    rest('GET', 'me/profile', { ...apps, host: 'lms.localhost' }),
    rest('GET', 'nothing', apps),
    rest('PATCH', 'me/profile', apps),
    rest('GET', 'storage/soak?limit=all&offset=-1', apps),
    rest('GET', `storage/soak/${'k'.repeat(3_000)}`, apps),
    rest('GET', 'storage/%00/%ff', apps),
    rest('PUT', 'storage/soak/k', json, '{"value":'),
    rest('PUT', 'storage/soak/k', json, '{"value":"\\ud800"}{}'),
    rest('PUT', 'storage/soak/k', { ...json, 'content-type': 'text/plain' }, 'value'),
    rest('PUT', 'storage/soak/k', { ...json, 'if-match': 'no tag' }, '{"value":1}'),
    rest('PUT', 'storage/soak/large', json, `{"value":"${'x'.repeat(11_000_000)}"}`),
    rest('PUT', 'storage/soak/deep', json, `{"value":${'['.repeat(50_000)}`),
    trpc('storage.put', { collection: 'c' }),
    trpc('nothing', {}),
    trpc('events.publish', { app: 'nobody', type: '', data: 1 }),
    trpc('directory.people.upsert', { items: [{ id: '' }] }),
    trpc('events.publish', {}, { authorization: 'Bearer nobody' }),
  ]
}

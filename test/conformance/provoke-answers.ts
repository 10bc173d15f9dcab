import { setImmediate } from 'node:timers/promises'
import { findProcedure } from '../../rest-facade/document.ts'
import type { Operation } from '../../rest-facade/openapi-operation.ts'
import type { Section, TokenSection } from '../../routers/kernel/scopes.ts'
import { eventCursors } from '../../routers/webhooks/feed/fetch.ts'
import { mintMember } from '../support/app-server.ts'
import { expireCursors } from '../support/expired-cursors.ts'
import type { Call, Reply } from '../support/request.ts'
import { putAddress } from '../support/tenant.ts'
import type { Tenant } from './answers-tenant.ts'

/** An operation of a document, at its place. */
export interface Place {
  section: Section
  /** The section whose tokens it takes. */
  tokens: TokenSection
  method: string
  path: string
  operation: Operation
}

const others = { apps: 'lms', lms: 'notify', notify: 'sync', sync: 'apps' } as const
const answers = { q1: 'Yes' }

/** The address of an operation, with the names in place of its own parameters. */
export const fillAddress = ({ path }: Place, { world: { ids } }: Tenant, names: Record<string, string> = {}) => {
  const known: Record<string, string> = {
    collection: 'c',
    key: 'k',
    quizId: `open-${ids.academy}`,
    resultId: `result-${ids.academy}`,
    id: ids.app,
    addressId: `address-${ids.app}`,
    ...names,
  }
  return path === '/' ? '' : path.replace(/\{(\w+)\}/g, (_, name) => known[name]!)
}

/** Whether no member may call the operation. */
export const isOfApp = ({ operation }: Place) => findProcedure(operation).meta.policy.requires.appItself === 'required'

const putOne = { op: 'put', collection: 'c', key: 'k', value: 1 }

/** The state is that of an address. */
const hook = { url: 'https://example.org/hook', secret: 's', types: null, state: 'active' }
/** Whether the app of an operation is that of the client. */
const isOfClient = ({ path }: Place) => /^\/(?:events|addresses)/.test(path)

const makeBody = (place: Place) => {
  const { path, operation } = place
  if (!operation.requestBody) return {}
  if (path.startsWith('/storage')) return { body: { value: 1 } }
  if (isOfApp(place)) return { body: { rule: 'author' } }
  if (path === '/batch') return { body: { operations: [putOne] } }
  return { body: path.startsWith('/quizzes') ? { answers } : hook }
}

interface More extends Call {
  names?: Record<string, string>
  query?: string
  method?: string
}

/** Calls an operation, well unless `more` says otherwise. */
export function ask(
  place: Place,
  tenant: Tenant,
  { names, query = '', method = place.method, claims, ...more }: More = {},
) {
  const usual = isOfApp(place) ? tenant.server : undefined
  const call = { api: place.section, ...makeBody(place), claims: { ...usual, ...claims }, ...more }
  return tenant.world.call(method, `${fillAddress(place, tenant, names)}${query}`, call)
}

type Provoke = (place: Place, tenant: Tenant) => Promise<Reply>

const asking =
  (more: More): Provoke =>
  (place, tenant) =>
    ask(place, tenant, more)
/** A batch of one operation, changed; elsewhere the call itself. */
const changing =
  (more: object, elsewhere: More = {}): Provoke =>
  (place, tenant) =>
    ask(place, tenant, place.path === '/batch' ? { body: { operations: [{ ...putOne, ...more }] } } : elsewhere)
const asClient =
  (name: 'hobby' | 'noApp' | 'exhausted' | 'suspended' | 'foreign' | 'ruled'): Provoke =>
  (place, tenant) =>
    ask(place, tenant, { claims: { client_id: tenant[name], sub: tenant.world.ids.member } })
const ofQuiz =
  (name: string): Provoke =>
  (place, tenant) =>
    ask(place, tenant, { names: { quizId: `${name}-${tenant.world.ids.academy}` } })
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

/** How to get each row of the catalogue of an operation whose document names it. */
export const provoke: Record<string, Provoke> = {
  hostWrong: (place, tenant) => ask(place, tenant, { host: `${others[place.section]}.test` }),
  methodWrong: asking({ method: 'PATCH' }),
  tokenMissing: asking({ token: null }),
  tokenInvalid: asking({ token: 'sk_live_0123456789' }),
  tokenExpired: (place, tenant) => ask(place, tenant, { claims: { exp: tenant.world.now() } }),
  failuresLimited: (place, tenant) => ask(place, tenant, { token: 'guessed', headers: tenant.guesser }),
  rateLimited: asClient('exhausted'),
  scopeMissing: asking({ claims: { scope: '' } }),
  levelTooLow: asClient('hobby'),
  clientNotApp: asClient('noApp'),
  appItselfNeeded: (place, tenant) => ask(place, tenant, { claims: { sub: tenant.world.ids.member } }),
  memberUnknown: asking({ claims: { sub: 'someone-else' } }),

  typeWrong: asking({ headers: { 'content-type': 'text/plain' } }),
  bodyNotJson: asking({ body: '{' }),
  bodyNotObject: asking({ body: [] }),
  bodyTooDeep: asking({ body: `{"answers":${nested(1000)}}` }),
  bodyTooLarge: asking({ body: JSON.stringify('x'.repeat(2 * 1024 * 1024)) }),

  timeInvalid: asking({ query: '?start=1.5' }),
  rangeTooLong: asking({ query: '?start=0&end=31536001' }),
  nameInvalid: changing({ key: 'a.b' }, { names: { collection: 'a.b' }, query: '?after=a.b' }),
  scopeInvalid: changing({ scope: 'club' }, { query: '?scope=club' }),
  scopeOrgOnly: (place, tenant) => {
    const user = { operations: [{ ...putOne, scope: 'user' }] }
    const given = place.path === '/batch' ? { body: user } : { query: '?scope=user' }
    return ask(place, tenant, { claims: { ...tenant.server }, ...given })
  },
  limitInvalid: asking({ query: '?limit=0' }),
  offsetInvalid: asking({ query: '?offset=-1' }),
  prefixInvalid: asking({ query: '?prefix=a.b' }),
  valuesInvalid: asking({ query: '?values=no' }),
  waitInvalid: asking({ query: '?wait=51' }),
  cursorInvalid: asking({ query: '?since=x' }),
  eventCursorInvalid: asking({ query: '?since=x' }),
  cursorExpired: async (place, tenant) => {
    const { core, db, ids } = tenant.world
    if (place.path === '/events')
      return ask(place, tenant, {
        query: `?since=${eventCursors(core.cipher, ids.app).of({ number: 1e9, horizon: 0 })}`,
      })
    const { body } = await ask(place, tenant)
    await expireCursors(db, ids)
    return ask(place, tenant, { query: `?since=${body.cursor}` })
  },
  waitsLimited: async (place, tenant) => {
    const waiting = { names: { collection: 'awaited' }, query: '?wait=50' }
    const replies = [1, 2, 3, 4, 5].map(() => ask(place, tenant, waiting))
    while (tenant.world.longPollSlots.size < replies.length) await setImmediate()
    const refused = await ask(place, tenant, waiting)
    const { db, ids } = tenant.world
    if (place.path === '/events') {
      const event = { appId: ids.app, id: 'awaited' }
      await db.publishedEvent.create({ data: { ...event, type: 't', body: '{}', publishedAt: new Date() } })
      await Promise.all(replies)
      await db.publishedEvent.delete({ where: { of: event } })
      return refused
    }
    await tenant.world.call('PUT', '/storage/awaited/k', { body: { value: 1 } })
    await Promise.all(replies)
    await tenant.world.call('DELETE', '/storage/awaited/k')
    return refused
  },
  cardUnknown: async (place, tenant) => ask(place, tenant, { claims: { sub: await mintMember(tenant.world) } }),
  cardFormOff: async (place, tenant) => {
    const { core } = tenant.world
    const { cards } = core
    delete core.cards
    const refused = await ask(place, tenant)
    core.cards = cards!
    return refused
  },
  keyUnknown: asking({ names: { key: 'unknown' } }),
  entryNotOwn: asClient('ruled'),
  entryChanged: changing({ ifMatch: '"x"' }, { headers: { 'if-match': '"x"' } }),
  operationsInvalid: asking({ body: {} }),
  operationsNotAlone: asking({ body: { operations: [putOne], more: 2 } }),
  operationInvalid: changing({ more: 2 }),
  opInvalid: changing({ op: 'patch' }),
  valueUnexpected: changing({ op: 'get' }),
  pointerInvalid: changing({ pointer: '' }),
  mergeNotObject: changing({ op: 'merge' }),
  nameTwice: asking({
    body: '{"operations":[{"op":"merge","collection":"edited","key":"k","value":{"a":1,"a":2}}]}',
  }),
  notNumber: changing({ op: 'add', pointer: '/n', value: 'x' }),
  numberTooLong: async (place, tenant) => {
    const put = { op: 'put', collection: 'edited', key: 'number', value: 1 }
    await ask(place, tenant, { body: { operations: [put] } })
    return ask(place, tenant, { body: { operations: [{ ...put, op: 'add', pointer: '', value: 1e41 }] } })
  },
  editsTooLarge: (place, tenant) => {
    const merge = { op: 'merge', collection: 'edited', key: 'k' }
    const more = Array.from({ length: 24 }, (_, n) => ({ ...merge, value: { [n]: n } }))
    const operations = [{ ...merge, value: { text: 'x'.repeat(40_000) } }, ...more]
    return ask(place, tenant, { body: { operations } })
  },
  operationsTooLarge: asking({ body: `{"operations":[${' '.repeat(66_000)}]}` }),
  readsTooLarge: (place, tenant) => {
    const get = { op: 'get', collection: 'reads', key: 'k' }
    const put = { ...get, op: 'put', value: 'x'.repeat(400) }
    return ask(place, tenant, { body: { operations: [put, get, get, get] } })
  },
  valueMissing: changing({ value: undefined }, { body: {} }),
  valueNotAlone: asking({ body: { value: 1, more: 2 } }),
  valueTooDeep: changing({ value: JSON.parse(nested(257)) }, { body: `{"value":${nested(257)}}` }),
  quotaExceeded: changing({ value: 'x'.repeat(1000) }, { body: { value: 'x'.repeat(1000) } }),

  answersInvalid: asking({ body: {} }),
  questionUnknown: asking({ body: { answers: { q2: 'Yes' } } }),
  answerMisfit: asking({ body: { answers: { q1: ['Yes'] } } }),
  answersTooLarge: asking({ body: { answers: { q1: 'x'.repeat(300_000) } } }),
  idempotencyKeyInvalid: asking({ headers: { 'idempotency-key': 'a b' } }),
  resultUnknown: asking({ names: { resultId: 'none' } }),
  tooManyRules: (place, tenant) => ask(place, tenant, { claims: { ...tenant.full }, names: { collection: 'more' } }),
  changesLimited: async (place, tenant) => {
    const { db, ids, now } = tenant.world
    const target = 'earlier'
    const { client_id: clientId } = tenant.server
    const entry = { teamId: ids.team, clientId, action: 'rule.set', target }
    const at = new Date((now() - 86_400 + 30) * 1000)
    await db.auditEntry.createMany({ data: Array.from({ length: 1_000 }, () => ({ ...entry, at })) })
    const changed = isOfClient(place) ? { body: { ...hook, url: `https://${place.method}.example` } } : {}
    const refused = await ask(place, tenant, { names: { collection: 'more' }, ...changed })
    await db.auditEntry.deleteMany({ where: { target } })
    return refused
  },
  quizUnknown: ofQuiz('none'),
  quizClosed: ofQuiz('closed'),
  quizEmpty: ofQuiz('empty'),
  attemptsExhausted: async (place, tenant) => {
    await ofQuiz('once')(place, tenant)
    return ofQuiz('once')(place, tenant)
  },
  idempotencyMismatch: async (place, tenant) => {
    const headers = { 'idempotency-key': `twice-${place.method}` }
    if (place.method === 'DELETE') {
      await tenant.world.call('PUT', '/storage/c/twice', { body: { value: 1 } })
      await ask(place, tenant, { headers, names: { key: 'twice' } })
      return ask(place, tenant, { headers })
    }
    await ask(place, tenant, { headers })
    const other = place.path === '/batch' ? { operations: [{ ...putOne, value: 2 }] } : { value: 2 }
    return ask(place, tenant, { headers, body: place.section === 'lms' ? { answers: {} } : other })
  },
  keysLimited: async (place, tenant) => {
    const { db, ids, now } = tenant.world
    const sub = await mintMember(tenant.world)
    await db.$executeRaw`INSERT INTO "StorageRequest"
      SELECT ${ids.app}, ${ids.club}, ${sub}, ${ids.client}, n::text, 'PUT', sha256(''), '{stored}', '{NULL}', 0, n,
        to_timestamp(${now() - 86_400 + 30})
      FROM generate_series(1, 10000) n`
    return ask(place, tenant, { claims: { sub }, headers: { 'idempotency-key': 'more' } })
  },

  inputInvalid: (place, tenant) =>
    ask(place, tenant, {
      ...(isOfApp(place) && { body: { rule: 'owner' } }),
      ...(isOfClient(place) && { body: { ...hook, state: 'ended' } }),
      names: { id: 'a.b' },
    }),
  urlInvalid: asking({ body: { ...hook, url: 'http://example.org' } }),
  secretInvalid: asking({ body: { ...hook, secret: '' } }),
  secretNeeded: async (place, tenant) => {
    await putAddress(tenant.world.core, tenant.world.ids.app)
    return ask(place, tenant, { body: { ...hook, secret: undefined } })
  },
  typesInvalid: asking({ body: { ...hook, types: [] } }),
  eventAddressUnknown: asking({ names: { addressId: 'none' } }),
  tooManyAddresses: async (place, tenant) => {
    const { db, ids } = tenant.world
    const own = { name: 'Full', teamId: ids.team }
    const clients = { create: { ...own, id: `full-${ids.client}`, environment: 'production' as const } }
    const { id } = await db.app.create({ data: { ...own, id: `full-${ids.app}`, providerId: ids.provider, clients } })
    const data = Array.from({ length: 10 }, (_, n) => ({ id: `${id}-${n}`, appId: id, subscriber: '', address: true }))
    await db.subscription.createMany({ data })
    return ask(place, tenant, { claims: { client_id: `full-${ids.client}` } })
  },
  appUnknown: (place, tenant) =>
    isOfClient(place) ? asClient('foreign')(place, tenant) : ask(place, tenant, { names: { id: 'unknown' } }),
  appSuspended: (place, tenant) =>
    isOfClient(place)
      ? asClient('suspended')(place, tenant)
      : ask(place, tenant, { names: { id: `suspended-${tenant.world.ids.app}` } }),
}

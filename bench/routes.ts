import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { LARGE_BYTES, statements } from '../routers/storage/statements.ts'
import { memberRoutes } from './member-routes.ts'
import { eventOf, publishBare, SUBSCRIPTIONS } from './publish.ts'
import { quizRoute } from './quiz-route.ts'

/** Who sends a request: a token, and its claims for the bare handler. */
export interface Tenant {
  token: string
  app: string
  club: string
  member: string
}

/** A route of the service, and a bare handler that does the same. */
export interface BenchedRoute {
  /** The highest allowed ratio of the service's CPU time to the bare handler's. */
  target?: number
  /** Called over tRPC on the internal port, by the platform's client. */
  internal?: true
  /** The same, but called by members. */
  trpc?: true
  /** Of another section than the one of the apps: called by learners. */
  section?: 'lms'
  /** Divides the number of requests of a round. */
  share?: number
  method: 'GET' | 'PUT' | 'POST'
  path: (i: number) => string
  body?: string
  /** Returns the response body of the service. */
  bare: (pool: Pool, tenant: Tenant, path: string, body: string) => Promise<string>
}

/** Entries of each tenant in the collection `bench`: the default page size of a list. */
export const ENTRIES = 50

export const VALUE = JSON.stringify({
  title: 'Intervals',
  rounds: 6,
  rest: 90,
  done: [true, false, null],
  note: 'x'.repeat(150),
})

const keyOf = (i: number) => `key-${i % ENTRIES}`
const segment = (path: string, n: number) => path.split('/')[n]!

export const routes: Record<string, BenchedRoute> = {
  get: {
    target: 1.5,
    method: 'GET',
    path: (i) => `/v1/storage/bench/${keyOf(i)}`,
    async bare(pool, { app, club }, path) {
      const key = segment(path, 4)
      const { rows } = await pool.query({
        ...statements.get,
        values: [app, club, '', segment(path, 3), key, LARGE_BYTES],
      })
      const [{ value, updatedAt }] = rows
      return `{"key":${JSON.stringify(key)},"value":${value},"updatedAt":${updatedAt}}`
    },
  },

  put: {
    target: 1.6,
    method: 'PUT',
    path: (i) => `/v1/storage/bench/${keyOf(i)}`,
    body: `{"value":${VALUE}}`,
    async bare(pool, { app, club }, path, body) {
      const key = segment(path, 4)
      const value = JSON.stringify(JSON.parse(body).value)
      const updatedAt = Math.floor(Date.now() / 1000)
      await pool.query({
        ...statements.put,
        values: [app, club, '', segment(path, 3), key, value, randomUUID(), updatedAt, 10_485_760, null, null],
      })
      return `{"key":${JSON.stringify(key)},"value":${value},"updatedAt":${updatedAt}}`
    },
  },

  list: {
    target: 1.35,
    method: 'GET',
    path: () => '/v1/storage/bench',
    async bare(pool, { app, club }, path) {
      const { rows } = await pool.query({
        ...statements.list,
        values: [app, club, '', segment(path, 3), 50, 0, LARGE_BYTES],
      })
      let items = ''
      for (const { key, value, updatedAt } of rows) {
        items += `${items && ','}{"key":${JSON.stringify(key)},"value":${value},"updatedAt":${updatedAt}}`
      }
      return `{"items":[${items}],"total":${rows[0].total}}`
    },
  },

  ...memberRoutes,
  ...overTrpc(memberRoutes),

  quiz: quizRoute,

  ...Object.fromEntries(SUBSCRIPTIONS.map((n) => [`publish-${n}`, publishing(n)])),
}

/** Names are `trpc-profile`, …: at most 1.3 of REST. */
function overTrpc(rest: Record<string, BenchedRoute>): Record<string, BenchedRoute> {
  return Object.fromEntries(
    Object.entries(rest).map(([name, route]) => {
      const procedure = route.path(0).slice('/v1/'.length).replace('/', '.')
      return [
        `trpc-${name}`,
        { ...route, target: Number((route.target! * 1.3).toFixed(2)), trpc: true, path: () => `/trpc/${procedure}` },
      ]
    }),
  )
}

/** Publishes an event to `subscriptions` subscriptions. No target: tRPC over HTTP has costs of its own. */
function publishing(subscriptions: number): BenchedRoute {
  return {
    internal: true,
    share: 5,
    method: 'POST',
    path: () => '/trpc/events.publish',
    body: JSON.stringify(eventOf(subscriptions)),
    async bare(pool, _tenant, _path, body) {
      return JSON.stringify({ result: { data: await publishBare(pool, JSON.parse(body)) } })
    },
  }
}

import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { LARGE_BYTES, statements } from '../routers/storage/statements.ts'
import { eventOf, publishBare, SUBSCRIPTIONS } from './publish.ts'

/** Whose requests they are: a token, and what a bare handler reads off it. */
export interface Tenant {
  token: string
  app: string
  club: string
  member: string
}

/** One route of the service, and the same by hand, over the same statement. */
interface BenchedRoute {
  /** How many times the bare handler's time it may take. */
  target?: number
  /** For the platform's own client, over tRPC on the internal port. */
  internal?: true
  /** So many times fewer requests make a round. */
  share?: number
  method: 'GET' | 'PUT' | 'POST'
  path: (i: number) => string
  body?: string
  /** The answer's body, as the service gives it. */
  bare: (pool: Pool, tenant: Tenant, path: string, body: string) => Promise<string>
}

/** How many entries each tenant has in the collection `bench`: as many as LIST returns. */
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
    target: 2,
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
    target: 1.7,
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
    target: 1.5,
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

  profile: {
    method: 'GET',
    path: () => '/v1/me/profile',
    async bare(pool, { member }) {
      const { rows } = await pool.query({
        name: 'profile',
        text: 'SELECT id, "firstName", "lastName", email, birthday::text, image FROM "Person" WHERE id = $1',
        values: [member],
      })
      return JSON.stringify(rows[0])
    },
  },

  ...Object.fromEntries(SUBSCRIPTIONS.map((n) => [`publish-${n}`, publishing(n)])),
}

/** An event for an app with so many subscriptions, over tRPC, whose own HTTP costs what it costs: no target. */
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

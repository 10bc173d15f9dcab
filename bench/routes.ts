import type { Pool } from 'pg'
import type { Form } from './content.ts'
import { memberRoutes } from './member-routes.ts'
import { otherRoutes } from './other-routes.ts'
import { eventOf, publishBare, SUBSCRIPTIONS } from './publish.ts'
import { quizRoute } from './quiz-route.ts'
import { storageRoutes } from './storage-routes.ts'

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
  /** The ratio that runs of CI have shown, while that is beyond the target: CI holds it until then. */
  reached?: number
  /** Called over tRPC on the internal port, by the platform's client. */
  internal?: true
  /** Of another section than the one of the apps: called by learners, or by developers. */
  section?: 'lms' | 'notify'
  /** Divides the number of requests of a round. */
  share?: number
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  path: (i: number) => string
  body?: string
  /** Requests of each tenant in a set. */
  each?: number
  /** SQL that runs before each round: for the bare handlers' tables, and for those of the service. */
  refill?: { bare: string; service: string }
  form?: Form
  /** Fields of the answer that are never the same. */
  masked?: string[]
  /** The same over tRPC; without an input a query. */
  procedure?: { path: string; input?: (i: number) => object }
  /** Returns the response body of the service. */
  bare: (pool: Pool, tenant: Tenant, path: string, body: string) => Promise<string>
}

/** What apps may call. */
export const restRoutes: Record<string, BenchedRoute> = {
  ...storageRoutes,
  ...memberRoutes,
  quiz: quizRoute,
  ...otherRoutes,
}

export const routes: Record<string, BenchedRoute> = {
  ...restRoutes,
  ...Object.fromEntries(SUBSCRIPTIONS.map((n) => [`publish-${n}`, publishing(n)])),
}

/** How much CPU time a procedure may take over tRPC, as a multiple of what it takes over REST. */
export const TRPC_TARGET = 1.3

/** Publishes an event to `subscriptions` subscriptions. No target: tRPC over HTTP has costs of its own. */
function publishing(subscriptions: number): BenchedRoute {
  return {
    internal: true,
    share: 5,
    method: 'POST',
    path: () => '/trpc/events.publish',
    body: JSON.stringify(eventOf(subscriptions)),
    form: 'trpc',
    masked: ['id'],
    async bare(pool, _tenant, _path, body) {
      return JSON.stringify({ result: { data: await publishBare(pool, JSON.parse(body)) } })
    },
  }
}

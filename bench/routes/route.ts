import type { Pool } from 'pg'

/** Who sends a request: a token, and its claims for the bare handler. */
export interface Tenant {
  token: string
  app: string
  club: string
  member: string
}

/** Returns the response body of the service. */
export type Bare = (pool: Pool, tenant: Tenant, path: string, body: string) => Promise<string>

/** A route of the service, and a bare handler that does the same. */
export interface BenchedRoute {
  /** The highest allowed ratio of the service's CPU time to the bare handler's. */
  target?: number
  /** The ratio that runs of CI have shown, while that is beyond the target: CI holds it until then. */
  reached?: number
  /** Of another section than the one of the apps: called by learners, or by developers. */
  section?: 'lms' | 'notify'
  /** Divides the number of requests of a round. */
  share?: number
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  path: (i: number) => string
  body?: string
  /** Requests of each tenant in a set, where it is not EACH. */
  each?: number
  /** SQL that runs before each round: for the bare handlers' tables, and for those of the service. */
  refill?: { bare: string; service: string }
  /** Fields of the answer that are never the same. */
  masked?: string[]
  /** The same over tRPC; without an input a query. */
  procedure: { path: string; input?: (i: number) => object }
  bare: Bare
}

/** Requests of each tenant in a set. */
export const EACH = 10

/** How much CPU time a procedure may take over tRPC, as a multiple of what it takes over REST. */
export const TRPC_TARGET = 1.3

import type { Pool } from 'pg'

/** The sender of a request: a token, and its claims for the bare handler. */
export interface Tenant {
  token: string
  app: string
  club: string
  member: string
}

/** Returns the response body of the service. */
export type Bare = (pool: Pool, tenant: Tenant, path: string, body: string) => Promise<string>

export interface BenchedRoute {
  /** The highest allowed ratio of the service's CPU time to the bare handler's. */
  target?: number
  /** The ratio measured in CI while it exceeds the target: CI enforces it until then. */
  reached?: number
  /** A section other than apps: called by learners, or by developers; or the authorization server, called for people. */
  section?: 'lms' | 'notify' | 'auth'
  /** Divides the number of a round's requests. */
  share?: number
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  path: (i: number) => string
  body?: string
  each?: number
  /** SQL that runs before each round: for the bare handlers' tables, and for the service's. */
  refill?: { bare: string; service: string }
  /** Fields of the answer that differ each time. */
  masked?: string[]
  /** The same over tRPC, if it is there; without an input a query. */
  procedure?: { path: string; input?: (i: number) => object }
  bare: Bare
}

export const EACH = 10

/** The allowed CPU time of a procedure over tRPC, as a multiple of that over REST. */
export const TRPC_TARGET = 1.3

/** The same of a tool's call. */
export const MCP_TARGET = 1.5

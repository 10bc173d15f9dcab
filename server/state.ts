import type Koa from 'koa'
import type { Route } from '../rest-facade/routes.ts'
import type { Principal } from '../routers/access.ts'
import type { Section } from '../routers/trpc.ts'

/** What the steps learn about a request, each one thing; later steps read it. */
export interface State extends Koa.DefaultState {
  requestId: string
  /** Whose envelope an error gets: the section of the path, else of the host, else null. */
  section: Section | null
  /** The request target's path and query, as they came. */
  path: string
  search: string
  route?: Route
  segments: readonly string[]
  principal?: Principal
}

export type Step = Koa.Middleware<State>
export type StepContext = Koa.ParameterizedContext<State>

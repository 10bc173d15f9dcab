import type Koa from 'koa'
import type { RestResponse } from '../../rest-facade/facade.ts'
import type { Route } from '../../rest-facade/routes.ts'
import type { Principal } from '../../routers/access.ts'
import type { Section } from '../../routers/scopes.ts'

/** What the steps learn about a request, each one thing; later steps read it. */
export interface State extends Koa.DefaultState {
  requestId: string
  /** Whose envelope an error gets: the section of the path, else of the host, else null. */
  section: Section | null
  /** The host that the request names; its path and query, as they came. */
  host: string
  path: string
  search: string
  route?: Route
  segments: readonly string[]
  principal?: Principal
  /** Headers of the answer that are not set yet: name, value, name, value. */
  headers: string[]
  /** What an endpoint or a refusal answers; the other steps leave theirs to Koa. */
  answer?: RestResponse
  /** What a 5xx comes from, for the log alone. */
  cause?: unknown
}

export type Step = Koa.Middleware<State>
export type StepContext = Koa.ParameterizedContext<State>

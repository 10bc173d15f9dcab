import type Koa from 'koa'
import type { RestResponse } from '../../rest-facade/facade.ts'
import type { Route } from '../../rest-facade/routes.ts'
import type { Principal } from '../../routers/kernel/access.ts'
import type { ApiError } from '../../routers/kernel/errors.ts'
import type { Section } from '../../routers/kernel/scopes.ts'

export interface State extends Koa.DefaultState {
  requestId: string
  /** Decides an error's envelope: the section of the path, else of the host, else null. */
  section: Section | null
  /** Host, path and query as sent. */
  host: string
  path: string
  search: string
  /** The path of an API on this machine, in place of `/v1`. */
  base?: string
  route?: Route
  /** The name of a request without a route in metrics and spans: from a fixed set, never what a client sent. */
  operation?: string
  segments: readonly string[]
  /** The path of the matching endpoint, even at another host or with another method. */
  pattern?: string
  /** The path of any other request with its parameters' names, for the log and spans: like `operation` from a fixed set. */
  address?: string
  principal?: Principal
  clientAddress?: string
  /** A device's poll that its member has not answered: no failure. */
  waits?: true
  /** Response headers that are not yet set: name, value, name, value. */
  headers: string[]
  /** The response of an endpoint, or an error; Koa sends everything else. */
  response?: RestResponse
  /** The refusal that an assistant's response of status 200 tells: logs and metrics have its status. */
  refusal?: ApiError
  /** The cause of a 5xx, for the log only. */
  cause?: unknown
}

export const operationName = ({ route, operation }: State): string => route?.name ?? operation ?? 'other'

/** The path with names in place of its parameters' values: `/v1/storage/{collection}/{key}`. Undefined for unknown paths. */
export const readPath = ({ pattern, address }: State): string | undefined =>
  pattern === undefined ? address : `/v1${pattern === '/' ? '' : pattern}`

export type Step = Koa.Middleware<State>
export type StepContext = Koa.ParameterizedContext<State>

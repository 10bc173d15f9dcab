import { ApiError } from '../../routers/kernel/errors.ts'
import type { RequestLog } from '../request-log/request-log.ts'
import type { Authenticate } from '../tokens/authenticate.ts'
import type { StepContext } from './state.ts'

/** Called for each answered request: `at` is its arrival in Unix milliseconds. */
export type RecordRequest = (ctx: StepContext, at: number, ms: number, refusal: ApiError | undefined) => void

/**
 * Adds requests to the request log of the token's client. Without an endpoint the token has not been verified yet: such a refusal
 * is logged once it is, after the response. Requests without a valid token belong to no client.
 */
export function recordIn(requestLog: RequestLog, authenticate: Authenticate): RecordRequest {
  return ({ req, res, method: sent, state }, at, ms, refusal) => {
    const { principal, requestId, route, pattern } = state
    // A tool is called by POST, whatever its endpoint's method is.
    const method = route && route.path !== pattern ? route.method : sent
    if (!refusal) {
      if (!principal || !route) return
      const status = state.response?.status ?? res.statusCode
      const { client, member } = principal
      return requestLog.answered(client, at, { requestId, method, route: route.path, status, ms, member })
    }
    const request = { requestId, method, route: route?.path ?? pattern, ms }
    const enter = (client: string, member: string | null) =>
      requestLog.refused(client, at, refusal, { ...request, member })
    const client = principal?.client ?? refusal.client
    if (client !== undefined) enter(client, principal?.member ?? null)
    else if (!route && req.headers.authorization !== undefined)
      authenticate(req).then(
        (found) => enter(found.client, found.member),
        (thrown) => thrown instanceof ApiError && thrown.client !== undefined && enter(thrown.client, null),
      )
  }
}

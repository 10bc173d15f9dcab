import { ApiError } from '../../routers/kernel/errors.ts'
import type { RequestLog } from '../request-log/request-log.ts'
import type { Authenticate } from '../tokens/authenticate.ts'
import type { StepContext } from './state.ts'

/** Called for each request that has been answered: `at` is when it came, in Unix milliseconds. */
export type RecordRequest = (ctx: StepContext, at: number, ms: number, refusal: ApiError | undefined) => void

/**
 * Enters requests into the log of the client whose token they have. Without an endpoint nobody has looked at the token yet: a
 * refusal of that kind is entered once it is verified, after the answer. A request without a valid token is nobody's.
 */
export function recordIn(requestLog: RequestLog, authenticate: Authenticate): RecordRequest {
  return ({ req, method, state }, at, ms, refusal) => {
    const { principal, requestId, route, pattern } = state
    if (!refusal) return principal && requestLog.answered(principal.client, at)
    const request = { requestId, method, route: route?.path ?? pattern, ms }
    const enter = (client: string) => requestLog.refused(client, at, refusal, request)
    const client = principal?.client ?? refusal.client
    if (client !== undefined) enter(client)
    else if (!route && req.headers.authorization !== undefined)
      authenticate(req).then(
        (found) => enter(found.client),
        (thrown) => thrown instanceof ApiError && thrown.client !== undefined && enter(thrown.client),
      )
  }
}

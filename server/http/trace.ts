import type { Tracing } from '../telemetry/trace-context.ts'
import type { Step } from './state.ts'
import { operationOf, pathOf } from './state.ts'

export function traceRequests(tracing: Tracing): Step {
  return ({ method, req, state, response }, next) =>
    tracing.request({ method, traceparent: req.headers.traceparent }, next, () => ({
      operation: operationOf(state),
      route: pathOf(state),
      status: state.response?.status ?? response.status,
    }))
}

import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { envelope, errorHeaders } from '../../rest-facade/envelope.ts'
import { toFailure } from '../../routers/kernel/database-errors.ts'
import { isOverdue } from '../../routers/kernel/deadline.ts'
import { ApiError } from '../../routers/kernel/errors.ts'
import type { HttpMetrics } from '../telemetry/http-metrics.ts'
import { dropBody } from './drain.ts'
import { waitsToContinue } from './expect-continue.ts'
import type { RecordRequest } from './record.ts'
import { logRefusals } from './refusal-log.ts'
import type { ResourceMetadata } from './resource-metadata.ts'
import { NO_TRANSFORM } from './revalidation.ts'
import { send } from './send.ts'
import type { State, Step } from './state.ts'
import { operationName, readPath } from './state.ts'

const REVALIDATE = 'private, no-cache'
const HEADERS = ['X-Content-Type-Options', 'nosniff', 'Cache-Control', REVALIDATE]

/** For responses that no cache may store, not even the member's own browser. */
export const NO_STORE = 'private, no-store'

/** Replaces the Cache-Control of a response whose headers are not yet set. */
export function forbidStoring({ headers }: State) {
  headers[headers.indexOf(REVALIDATE)] = NO_STORE
}

/**
 * Keeps proxies from compressing a response with an ETag: nginx and Apache change the ETag with it, to one that `If-Match` never
 * matches.
 */
export function forbidTransforming({ headers }: State) {
  headers[headers.indexOf(REVALIDATE)] = `${REVALIDATE}, ${NO_TRANSFORM}`
}

/** Load balancers and Prometheus ask every few seconds. */
const PROBES = new Set(['health', 'metrics'])

/** Who knows the address of a calendar, or the code of a card, can use it. */
const SECRETS = /(\/v1\/(?:calendar|card)\/).+/

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/

/** Whether nothing is wrong with the request or the service: what it depends on is out of reach. Batches have another status. */
const isOutage = (status: number, cause: unknown) =>
  status === 503 || isOverdue(cause) || toFailure(cause).status === 503

/**
 * The outermost step: the request id, the only catch, one log line per request (of a successful probe: debug), its metrics,
 * its entry in its client's request log, and the addresses of the catalogue in each error and of RFC 9728 in each challenge.
 */
export function respond(
  log: Logger,
  now: () => number,
  metrics: HttpMetrics,
  findMetadata: ResourceMetadata,
  findCatalogue: (state: State) => string,
  record?: RecordRequest,
): Step {
  const reasonFor = logRefusals(log)
  return async (ctx, next) => {
    const [start, began] = [now(), performance.now()]
    metrics.began()
    const given = ctx.req.headers['x-request-id']
    const requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    ctx.state.requestId = requestId
    ctx.state.section = null
    ctx.state.headers = ['X-Request-Id', requestId, ...HEADERS]

    let refusal: ApiError | undefined
    try {
      await next()
      refusal = ctx.state.refusal
      if (refusal && refusal.status >= 500) ctx.state.cause = refusal.cause
    } catch (thrown) {
      const error = thrown instanceof ApiError ? thrown : toFailure(thrown)
      refusal = error
      if (error.status >= 500) ctx.state.cause = error.cause
      const fields: Record<string, string> = { ...errorHeaders(error.id, findCatalogue(ctx.state)), ...error.headers }
      const challenge = fields['WWW-Authenticate']
      if (challenge !== undefined) fields['WWW-Authenticate'] = withResource(challenge, findMetadata(ctx.state))
      ctx.state.headers.push(...Object.entries(fields).flat())
      const body = JSON.stringify(envelope(error, ctx.state.section, requestId))
      ctx.state.response = { status: error.status, body }
    }
    // tRPC answers errors itself.
    const sent = ctx.res.headersSent ? undefined : ctx.res.getHeader('WWW-Authenticate')
    if (typeof sent === 'string') ctx.set('WWW-Authenticate', withResource(sent, findMetadata(ctx.state)))
    const seconds = (performance.now() - began) / 1_000
    if (!ctx.req.complete && ctx.req.readableDidRead && isOverdue(ctx.state.cause)) {
      // The client has used up its time: what was read of the body is freed once the response is sent.
      ctx.res.shouldKeepAlive = false
      ctx.res.once('finish', () => ctx.req.socket.destroy())
    } else if (!ctx.req.complete && !ctx.req.destroyed && !waitsToContinue(ctx.req)) {
      await dropBody(ctx.req, ctx.res)
    }

    const { method, state } = ctx
    const { response, principal } = state
    if (response) send(ctx, response)
    const status = refusal?.status ?? response?.status ?? ctx.status
    const operation = operationName(state)
    metrics.ended(operation, status, seconds)
    const path = readPath(state) ?? 'other'
    const line = { requestId, method, path, status, ms: now() - start, client: principal?.client }
    log.debug({ requestId, sent: state.path.replace(SECRETS, '$1{secret}') }, 'path as sent')
    const { cause } = state
    if (cause && isOutage(status, cause)) {
      const reason = reasonFor(cause)
      if (reason === undefined) log.info(line)
      else log.error({ ...line, reason })
    } else if (cause) log.error({ ...line, err: cause })
    else if (status === 200 && PROBES.has(operation)) log.debug(line)
    else log.info(line)
    record?.(ctx, start, seconds * 1_000, refusal)
  }
}

/** Names a resource's document in a challenge for a bearer token (RFC 9728, 5.1). */
const withResource = (challenge: string, address: string) =>
  challenge.startsWith('Bearer ') ? `${challenge}, resource_metadata="${address}"` : challenge

import type { IncomingHttpHeaders } from 'node:http'
import { ApiError, errors } from '../../routers/kernel/errors.ts'
import { NO_STORE } from '../http/respond.ts'
import { JSON_TYPE } from '../http/send.ts'
import type { Step, StepContext } from '../http/state.ts'
import type { Authenticate } from '../tokens/authenticate.ts'
import type { Given, TrpcRequest } from './adapter.ts'
import { answerByAdapter, ENDPOINT } from './adapter.ts'
import type { SingleCall } from './call.ts'
import { isSubscription, procedureAt, replyTo, singleCall, toRefusal } from './call.ts'
import type { CallContext, TrpcParts } from './call-context.ts'
import { callContext, keepCause } from './call-context.ts'
import { listRawFields, readInputs, readQuery } from './inputs.ts'
import { streamTo } from './stream.ts'

/**
 * The procedures over tRPC. Reads and checks the body itself, after the access checks: tRPC's own reading never ends when a
 * client disconnects within the body, and limits neither size nor nesting.
 */
export function trpc(authenticate: Authenticate, parts: TrpcParts): Step {
  return async (ctx, next) => {
    if (!ctx.state.path.startsWith(`${ENDPOINT}/`)) return next()
    if (ctx.method !== 'GET' && ctx.method !== 'POST') throw errors.methodWrong('GET, POST')
    ctx.set('Cache-Control', NO_STORE)

    const request = parseRequest(ctx)
    const shared = callContext(parts, ctx, request.isStream || request.byLines)
    // Read once, for all calls of a batch.
    let inputs: Promise<string> | undefined
    const readOnce = () =>
      (inputs ??= shared.deadline.without(() => toInputs(ctx, request, shared, parts.core.storageQuotaBytes)))

    // Rethrown where tRPC formats it.
    let refusal: unknown
    try {
      ctx.state.principal = await authenticate(ctx.req)
      if (request.isStream && ctx.method !== 'GET') throw errors.methodWrong('GET')
      // tRPC's adapter parses a query itself. A response of lines begins before its calls are run.
      if (ctx.method === 'GET' && !request.isStream) await readOnce()
      else if (request.byLines) await readOnce().catch(() => {})
    } catch (thrown) {
      refusal = thrown
    }

    // tRPC's adapter answers a stream's refusal with 200.
    const isOwn = request.isStream || !(refusal || request.byLines)
    const single = isOwn ? singleCall(ctx.method, request) : null
    ctx.state.operation = operationName(request)
    ctx.state.address = `${ENDPOINT}/${ctx.state.operation}`
    const given = { shared, readInputs: readOnce, refusal }
    if (single) await answerSingle(ctx, single, given)
    else await answerByAdapter(ctx, request, given)
  }
}

/** An endpoint's name, whatever the call's outcome. */
const operationName = ({ path, isBatch }: TrpcRequest) => (procedureAt(path) ? path : isBatch ? 'batch' : 'other')

/** As tRPC's adapter reads it: its clients send either header. */
function wantsLines({ 'trpc-accept': own, accept = '' }: IncomingHttpHeaders): boolean {
  const types = own === undefined ? accept.split(',').map((type) => type.trim()) : [own]
  return types.includes('application/jsonl')
}

function parseRequest({ req, state: { path: target, search } }: StepContext): TrpcRequest {
  const query = new URLSearchParams(search)
  // A URL would normalise `..` and drop a fragment; escaped, tRPC sees the path as sent.
  const name = target.slice(ENDPOINT.length + 1).replace(/[/\\#]/g, encodeURIComponent)
  const path = decoded(name)
  const isBatch = query.get('batch') === '1'
  const procedure = procedureAt(path)
  const isStream = !isBatch && procedure !== undefined && isSubscription(procedure)
  return { name, path, query, isBatch, isStream, byLines: !isStream && wantsLines(req.headers) }
}

function toInputs(
  { method, req, state }: StepContext,
  { path, query, isBatch }: TrpcRequest,
  { placeholders, reserve }: CallContext,
  quotaBytes: number,
): Promise<string> {
  if (method === 'GET') return readQuery(query, isBatch)
  return readInputs(req, {
    rawFields: listRawFields(path, isBatch),
    isBatch,
    quotaBytes,
    placeholders,
    reserve: (bytes, use) => reserve(state.principal!, bytes, use),
  })
}

/** The path as tRPC's adapter decodes it; one with an invalid encoding names no procedure. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return ''
  }
}

async function answerSingle(ctx: StepContext, call: SingleCall, given: Given) {
  const { shared } = given
  ctx.set('Vary', 'trpc-accept, accept')
  const reply = await createReply(ctx, call, given)
  if (!reply) return
  const { status, json, error } = reply
  if (error) keepCause(ctx, error)
  if (error instanceof ApiError) ctx.set(error.headers)
  ctx.status = status
  ctx.type = JSON_TYPE
  ctx.state.response = { status, body: await shared.render(json) }
}

/** Undefined for a stream that has begun. */
function createReply(ctx: StepContext, call: SingleCall, { shared, readInputs, refusal }: Given) {
  if (refusal) return toRefusal(call, refusal)
  const context = shared.createContext(ctx.state.principal!)
  return isSubscription(call.procedure)
    ? streamTo(ctx, call, readInputs, context, shared.placeholders)
    : replyTo(call, readInputs, context)
}

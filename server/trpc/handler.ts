import { procedures } from '../../routers/index.ts'
import { ApiError, errors } from '../../routers/kernel/errors.ts'
import { definitionOf } from '../../routers/kernel/trpc-internals.ts'
import { NO_STORE } from '../http/respond.ts'
import { JSON_TYPE } from '../http/send.ts'
import type { State, Step, StepContext } from '../http/state.ts'
import type { Authenticate } from '../tokens/authenticate.ts'
import type { TrpcRequest } from './adapter.ts'
import { answerByAdapter, ENDPOINT } from './adapter.ts'
import type { SingleCall } from './call.ts'
import { replyTo, singleCall } from './call.ts'
import type { CallContext, TrpcParts } from './call-context.ts'
import { callContext, keepCause } from './call-context.ts'
import { rawFieldsOf, readInputs, readQuery } from './inputs.ts'

/**
 * The procedures over tRPC. Reads and checks the body itself, after the access checks: tRPC's own reading never ends when a
 * client disconnects within the body, and limits neither size nor nesting.
 */
export function trpc(authenticate: Authenticate, parts: TrpcParts): Step {
  return async (ctx, next) => {
    if (!ctx.state.path.startsWith(`${ENDPOINT}/`)) return next()
    if (ctx.method !== 'GET' && ctx.method !== 'POST') throw errors.methodWrong('GET, POST')
    ctx.set('Cache-Control', NO_STORE)

    const request = requestOf(ctx.state, ctx.get('trpc-accept'))
    const shared = callContext(parts, ctx, request.streamed !== false)
    // Read once, for all calls of a batch.
    let inputs: Promise<string> | undefined
    const readOnce = () =>
      (inputs ??= shared.deadline.without(() => inputsOf(ctx, request, shared, parts.core.storageQuotaBytes)))

    // Rethrown where tRPC formats it.
    let refusal: unknown
    try {
      ctx.state.principal = await authenticate(ctx.req)
      // tRPC's adapter parses a query itself. A stream's response begins before its calls are run.
      if (ctx.method === 'GET') await readOnce()
      else if (request.streamed) await readOnce().catch(() => {})
    } catch (thrown) {
      refusal = thrown
    }

    const single = refusal || request.streamed ? null : singleCall(ctx.method, request)
    ctx.state.operation = operationOf(request)
    ctx.state.address = `${ENDPOINT}/${ctx.state.operation}`
    if (single) await answerSingle(ctx, single, shared, readOnce)
    else await answerByAdapter(ctx, request, { shared, readInputs: readOnce, refusal })
  }
}

/** An endpoint's name, whatever the call's outcome. */
const operationOf = ({ name, isBatch }: TrpcRequest) =>
  Object.hasOwn(procedures, name) ? name : isBatch ? 'batch' : 'other'

function requestOf({ path, search }: State, accept: string): TrpcRequest {
  const query = new URLSearchParams(search)
  // A URL would normalise `..` and drop a fragment; escaped, tRPC sees the path as sent.
  const name = path.slice(ENDPOINT.length + 1).replace(/[/\\#]/g, encodeURIComponent)
  return {
    name,
    query,
    isBatch: query.get('batch') === '1',
    streamed: isStream(name) ? 'events' : accept === 'application/jsonl' && 'lines',
  }
}

const isStream = (name: string) =>
  Object.hasOwn(procedures, name) && definitionOf(procedures[name]!).type === 'subscription'

function inputsOf(
  { method, req, state }: StepContext,
  { name, query, isBatch }: TrpcRequest,
  { values, reserve }: CallContext,
  quotaBytes: number,
): Promise<string> {
  if (method === 'GET') return readQuery(query, isBatch)
  return readInputs(req, {
    rawFields: rawFieldsOf(decoded(name), isBatch),
    isBatch,
    quotaBytes,
    values,
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

async function answerSingle(ctx: StepContext, call: SingleCall, shared: CallContext, readInput: () => Promise<string>) {
  const { status, json, error } = await replyTo(call, readInput, shared.contextOf(ctx.state.principal!))
  if (error) keepCause(ctx, error)
  if (error instanceof ApiError) ctx.set(error.headers)
  ctx.status = status
  ctx.set('Vary', 'trpc-accept, accept')
  ctx.type = JSON_TYPE
  ctx.state.response = { status, body: await shared.render(json) }
}

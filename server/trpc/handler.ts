import type { TRPCError } from '@trpc/server'
import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import type { Context } from '../../routers/context.ts'
import { ApiError, errors } from '../../routers/errors.ts'
import { appRouter } from '../../routers/index.ts'
import { NO_STORE } from '../http/respond.ts'
import { JSON_TYPE } from '../http/send.ts'
import type { Step, StepContext } from '../http/state.ts'
import type { Authenticate } from '../tokens/authenticate.ts'
import { replyTo, singleCall } from './call.ts'
import type { TrpcParts } from './call-context.ts'
import { callContext } from './call-context.ts'
import { rawFieldsOf, readInputs, readQuery } from './inputs.ts'

const ENDPOINT = '/trpc'

/** Calls in one request. */
const MAX_BATCH = 50

/**
 * The procedures over tRPC. Reads and checks the body itself, behind the gate: tRPC's own reading never ends when a client
 * disconnects inside the body, and limits neither size nor nesting.
 */
export function trpc(authenticate: Authenticate, parts: TrpcParts): Step {
  return async (ctx, next) => {
    const { path, search } = ctx.state
    if (!path.startsWith(`${ENDPOINT}/`)) return next()
    if (ctx.method !== 'GET' && ctx.method !== 'POST') throw errors.methodWrong('GET, POST')

    ctx.set('Cache-Control', NO_STORE)
    // A URL would normalise `..` and drop a fragment; escaped, tRPC sees the path as sent.
    const name = path.slice(ENDPOINT.length + 1).replace(/[/\\#]/g, encodeURIComponent)
    const query = new URLSearchParams(search)
    const isBatch = query.get('batch') === '1'
    const streamed = ctx.get('trpc-accept') === 'application/jsonl'
    const shared = callContext(parts, ctx, streamed)
    const read = async () => {
      if (ctx.method === 'GET') return readQuery(query, isBatch)
      const { values, reserve } = shared
      return readInputs(ctx.req, {
        rawFields: rawFieldsOf(decoded(name), isBatch),
        isBatch,
        quotaBytes: parts.core.storageQuotaBytes,
        values,
        reserve: (bytes, use) => reserve(ctx.state.principal!, bytes, use),
      })
    }
    // Read once, for all calls of a batch.
    let inputs: Promise<string> | undefined
    const readOnce = () => (inputs ??= read())

    // Thrown again in createContext, so that tRPC gives it its own shape.
    let refusal: unknown
    try {
      ctx.state.principal = await authenticate(ctx.req)
      // tRPC's adapter parses a query itself. The response of a stream begins before its calls are run.
      if (ctx.method === 'GET') await readOnce()
      else if (streamed) await readOnce().catch(() => {})
    } catch (thrown) {
      refusal = thrown
    }

    const single = refusal || streamed ? null : singleCall(ctx.method, name, query)
    if (single) {
      const { status, json, error } = await replyTo(single, readOnce, shared.contextOf(ctx.state.principal!))
      if (error) keepCause(ctx, error)
      if (error instanceof ApiError) ctx.set(error.headers)
      ctx.status = status
      ctx.set('Vary', 'trpc-accept, accept')
      ctx.type = JSON_TYPE
      ctx.state.response = { status, body: await shared.render(json) }
      return
    }

    const response = await fetchRequestHandler({
      endpoint: ENDPOINT,
      router: appRouter,
      maxBatchSize: MAX_BATCH,
      req: Object.assign(
        new Request(`http://trpc.internal${ENDPOINT}/${name}?${query}`, {
          method: ctx.method,
          headers: { 'content-type': 'application/json', ...(streamed && { 'trpc-accept': 'application/jsonl' }) },
        }),
        { text: readOnce },
      ),
      createContext: async ({ info }): Promise<Context> => {
        const { principal } = ctx.state
        if (!principal) throw refusal
        const own = shared.contextOf(principal)
        await countUnresolvedCalls(own, info.calls.filter(({ procedure }) => refusal || !procedure).length)
        if (refusal) throw refusal
        return own
      },
      responseMeta: ({ errors: failures }) => ({
        headers: Object.assign({}, ...failures.map((failure) => failure instanceof ApiError && failure.headers)),
      }),
      onError: ({ error }) => keepCause(ctx, error),
    })
    ctx.status = response.status
    response.headers.forEach((value, name) => {
      if (name !== 'transfer-encoding') ctx.set(name, value)
    })
    ctx.type = JSON_TYPE
    if (streamed) ctx.body = shared.placeholders.renderLines(response.body!)
    else ctx.state.response = { status: ctx.status, body: await shared.render(await response.text()) }
  }
}

/** For the log. */
function keepCause(ctx: StepContext, error: TRPCError) {
  if (error instanceof ApiError && error.status >= 500) ctx.state.cause = error.cause
}

/** The path as tRPC's adapter decodes it; one with an invalid encoding names no procedure. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return ''
  }
}

/** Counts calls that reach no procedure: the input was refused, or the path is unknown. */
async function countUnresolvedCalls({ core, call }: Context, count: number) {
  const access = count > 0 ? await core.accessOf(call.principal) : null
  for (let i = 0; access && i < count; i++) await call.consumeQuota(access)
}

import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import { appRouter } from '../../routers/index.ts'
import type { Context } from '../../routers/kernel/context.ts'
import { ApiError } from '../../routers/kernel/errors.ts'
import { JSON_TYPE } from '../http/send.ts'
import type { StepContext } from '../http/state.ts'
import type { CallContext } from './call-context.ts'
import { keepCause } from './call-context.ts'

export const ENDPOINT = '/trpc'

const MAX_BATCH = 50

export interface TrpcRequest {
  /** The path after `/trpc/`, as passed to tRPC. */
  name: string
  /** The path as tRPC decodes it. */
  path: string
  query: URLSearchParams
  isBatch: boolean
  /** It is one subscription: a stream of events. */
  isStream: boolean
  /** Each call of a batch is answered as soon as it has returned. */
  byLines: boolean
}

export interface Given {
  shared: CallContext
  /** Resolves to a body's inputs; called only for calls that pass their checks. */
  readInputs: () => Promise<string>
  refusal: unknown
}

/** Uses tRPC's own adapter, for batches and requests that name no procedure. */
export async function answerByAdapter(
  ctx: StepContext,
  { name, query, byLines }: TrpcRequest,
  { shared, readInputs, refusal }: Given,
) {
  const request = new Request(`http://trpc.internal${ENDPOINT}/${name}?${query}`, {
    method: ctx.method,
    headers: {
      'content-type': 'application/json',
      ...(byLines && { 'trpc-accept': 'application/jsonl' }),
    },
  })
  const response = await fetchRequestHandler({
    endpoint: ENDPOINT,
    router: appRouter,
    maxBatchSize: MAX_BATCH,
    req: Object.assign(request, { text: readInputs }),
    createContext: async ({ info }): Promise<Context> => {
      const { principal } = ctx.state
      if (!principal) throw refusal
      const own = shared.createContext(principal)
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
  if (byLines) ctx.body = shared.placeholders.renderLines(response.body!)
  else ctx.state.response = { status: ctx.status, body: await shared.render(await response.text()) }
}

/** Counts calls that reach no procedure: the input was refused, or the path is unknown. */
async function countUnresolvedCalls({ core, call }: Context, count: number) {
  const access = count > 0 ? await core.findAccess(call.principal) : null
  for (let i = 0; access && i < count; i++) await call.consumeQuota(access)
}

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { TRPCError } from '@trpc/server'
import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import { BODY_LIMIT_BYTES, scan } from '../../rest-facade/body.ts'
import { readBytes } from '../../rest-facade/body-bytes.ts'
import { MIN_DOWNLOAD } from '../../rest-facade/transfer-rate.ts'
import type { Principal } from '../../routers/access.ts'
import type { Context, Core } from '../../routers/context.ts'
import { ApiError, errors } from '../../routers/errors.ts'
import { appRouter } from '../../routers/index.ts'
import { Placeholders } from '../../routers/raw-json/placeholders.ts'
import { MAX_NESTING } from '../../routers/raw-json/text.ts'
import type { MemoryBudget, Use } from '../http/memory-budget.ts'
import { Lease } from '../http/memory-lease.ts'
import type { ConsumeQuota } from '../http/rate-limit.ts'
import { JSON_TYPE } from '../http/send.ts'
import type { Step } from '../http/state.ts'
import type { Authenticate } from '../tokens/authenticate.ts'
import { replyTo, singleCall } from './call.ts'

const ENDPOINT = '/trpc'
const MAX_BATCH = 10
const BYTE_ORDER_MARK = '\ufeff'

/** Drops a byte order mark. */
const utf8 = new TextDecoder()

/** A value's nesting as over REST, plus the input and the batch around it. */
const BODY_NESTING = MAX_NESTING + 2

/**
 * The procedures over tRPC. Reads and checks the body itself: tRPC's own reading never ends when a client disconnects
 * inside the body, and limits neither size nor nesting.
 */
export function trpc(core: Core, authenticate: Authenticate, consumeQuota: ConsumeQuota, memory: MemoryBudget): Step {
  return async (ctx, next) => {
    const { path, search } = ctx.state
    if (!path.startsWith(`${ENDPOINT}/`)) return next()
    if (ctx.method !== 'GET' && ctx.method !== 'POST') throw errors.methodWrong('GET, POST')

    // A URL would normalise `..` and drop a fragment; escaped, tRPC sees the path as sent.
    const name = path.slice(ENDPOINT.length + 1).replace(/[/\\#]/g, encodeURIComponent)
    const streamed = ctx.get('trpc-accept') === 'application/jsonl'
    const placeholders = new Placeholders(streamed)
    let lease: Lease | undefined
    const open = (team: string | null) => {
      const opened = new Lease(memory, ctx.res, team)
      // Also of a stream, which is rendered as it is sent.
      ctx.res.once('close', () => opened.rendered(0))
      return opened
    }
    // The body is read before the gate, which looks the team up.
    const reserve = async (bytes: number, use: Use) => {
      const access = await core.accessOf(ctx.state.principal!)
      if (!access) throw errors.tokenInvalid()
      lease ??= open(access.team)
      await lease.reserve(bytes, use)
      // What is not streamed is watched as it is sent.
      if (streamed) ctx.res.setTimeout(MIN_DOWNLOAD.graceMs)
    }
    const setHeader = (name: string, value: string) => ctx.set(name, value)
    const isPost = ctx.method === 'POST'
    const query = new URLSearchParams(search)
    const isBatch = query.get('batch') === '1'
    // An error here is thrown again in createContext, so that tRPC gives it its own shape.
    const read = async () => {
      ctx.state.principal = await authenticate(ctx.req)
      if (isPost) return readJson(ctx.req, isBatch, (bytes) => reserve(bytes, 'parsed'))
      const input = query.get('input') ?? '{}'
      // Allowed before a body, where it is dropped; JSON.parse of the input would fail on it.
      if (input.startsWith(BYTE_ORDER_MARK)) throw errors.bodyNotJson()
      await checkJson(Buffer.from(input), isBatch)
      return undefined
    }
    let refusal: unknown
    const body = await read().catch((thrown) => {
      refusal = thrown
    })

    const contextOf = (principal: Principal): Context => ({
      core,
      call: {
        principal,
        consumeQuota: (access) => consumeQuota(access, setHeader),
        json: placeholders.insert,
        typed: true,
        reserve: (bytes) => reserve(bytes, 'response'),
        setHeader,
      },
    })
    const onError = ({ error }: { error: TRPCError }) => {
      if (error instanceof ApiError && error.status >= 500) ctx.state.cause = error.cause
    }
    const send = async (json: string) => {
      const body = await placeholders.render(json)
      lease?.rendered(body.length)
      ctx.state.response = { status: ctx.status, body }
    }

    const single = refusal || streamed ? null : singleCall(ctx.method, name, query)
    if (single) {
      const input = body ? utf8.decode(body) : query.get('input')
      const { status, json, error } = await replyTo(single, input ?? '', contextOf(ctx.state.principal!))
      if (error) onError({ error })
      if (error instanceof ApiError) ctx.set(error.headers)
      ctx.status = status
      ctx.set('Vary', 'trpc-accept, accept')
      ctx.type = JSON_TYPE
      return send(json)
    }

    const response = await fetchRequestHandler({
      endpoint: ENDPOINT,
      router: appRouter,
      maxBatchSize: MAX_BATCH,
      req: new Request(`http://trpc.internal${ENDPOINT}/${name}?${query}`, {
        method: ctx.method,
        headers: { 'content-type': 'application/json', ...(streamed && { 'trpc-accept': 'application/jsonl' }) },
        ...(isPost && { body: body ?? '{}' }),
      }),
      createContext: async ({ info }): Promise<Context> => {
        const { principal } = ctx.state
        if (!principal) throw refusal
        const own = contextOf(principal)
        await countUnresolvedCalls(own, info.calls.filter(({ procedure }) => refusal || !procedure).length)
        if (refusal) throw refusal
        return own
      },
      responseMeta: ({ errors: failures }) => ({
        headers: Object.assign({}, ...failures.map((failure) => failure instanceof ApiError && failure.headers)),
      }),
      onError,
    })
    ctx.status = response.status
    response.headers.forEach((value, name) => {
      if (name !== 'transfer-encoding') ctx.set(name, value)
    })
    ctx.type = JSON_TYPE
    if (!streamed) return send(await response.text())
    ctx.body = placeholders.renderLines(response.body!)
  }
}

/** Counts calls that reach no procedure: the body was refused, or the path is unknown. */
async function countUnresolvedCalls({ core, call }: Context, count: number) {
  const access = count > 0 ? await core.accessOf(call.principal) : null
  for (let i = 0; access && i < count; i++) await call.consumeQuota(access)
}

async function readJson(
  request: IncomingMessage,
  isBatch: boolean,
  reserve: (bytes: number) => Promise<void>,
): Promise<Buffer<ArrayBuffer>> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) throw errors.typeWrong()
  const bytes = await readBytes(request, BODY_LIMIT_BYTES, errors.bodyTooLarge, reserve)
  if (bytes.length > 0) await checkJson(bytes, isBatch)
  return bytes as Buffer<ArrayBuffer>
}

async function checkJson(bytes: Buffer, isBatch: boolean) {
  const scanner = await scan(bytes)
  if (!scanner.wellFormed || !isUtf8(bytes)) throw errors.bodyNotJson()
  if (isBatch && !scanner.rootIsObject) throw errors.bodyNotObject()
  if (scanner.nesting > BODY_NESTING) throw errors.valueTooDeep()
}

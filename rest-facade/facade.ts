import type { AnyProcedure } from '@trpc/server'
import { getTRPCErrorFromUnknown } from '@trpc/server'
import { createOpenApiNodeHttpHandler } from 'trpc-to-openapi'
import { z } from 'zod'
import type { Principal } from '../routers/access.ts'
import type { Context, Core } from '../routers/context.ts'
import { failureOf } from '../routers/database-errors.ts'
import { router } from '../routers/trpc.ts'
import type { Given } from './input.ts'
import { readInput } from './input.ts'
import type { Route } from './routes.ts'
import { routes } from './routes.ts'
import { Splices } from './splices.ts'

/** Who calls, and what the server does for a call. */
export type Caller = Pick<Context, 'admit' | 'setHeader'> & { principal: Principal }

/** A status and, but for 204, a JSON text. */
export interface Answer {
  status: number
  body: string | undefined
}

type FacadeContext = Context & { readInput: () => Promise<unknown> }
type Handler = (request: LibraryRequest, response: LibraryResponse) => Promise<void>

/**
 * trpc-to-openapi runs the procedures and writes the answers; what it cannot do is closed here:
 * (1) it reads the input its own way (no query on PUT, no percent-decoding, JSON parsed, `"5"` and `""` made numbers, for
 *     good, in schemas that tRPC shares): to it each procedure has no input, and the chain asks `readInput` for it;
 * (2) so the body is read only when the chain comes to the input, behind every check of the gate;
 * (3) it knows only 200: `responseMeta` gives the status of the endpoint's row;
 * (4) it writes its own error body: `onError` keeps the error, which is thrown on to the one catch.
 */
export function restFacade(core: Core) {
  const handlers = new Map<Route, Handler>(routes.map((route) => [route, handlerOf(route)]))

  return async (route: Route, given: Given, caller: Caller): Promise<Answer> => {
    const splices = new Splices()
    const request = new LibraryRequest(route.method, {
      ...core,
      ...caller,
      json: splices.hold,
      readInput: () => readInput(route, given, core.storageQuotaBytes),
    })
    const response = new LibraryResponse()
    await handlers.get(route)!(request, response)
    if (request.error !== undefined) throw failureOf(request.error)
    return {
      status: response.statusCode,
      body: response.statusCode === 204 ? undefined : await splices.into(response.body!),
    }
  }
}

function handlerOf({ name, procedure, meta }: Route): Handler {
  const view = withoutInput(procedure)
  const options = {
    router: name.split('.').reduceRight<object>((inner, key) => router({ [key]: inner as never }), view),
    createContext: ({ req }: { req: LibraryRequest }) => req.context,
    onError: ({ req, error }: { req: LibraryRequest; error: unknown }) => {
      req.error = error
    },
    responseMeta: ({ errors }: { errors: unknown[] }) => (errors.length > 0 ? {} : { status: meta.status ?? 200 }),
  }
  return createOpenApiNodeHttpHandler(options as never) as unknown as Handler
}

/** The same procedure, the same chain; declared without input and at `/`, its raw input being what `readInput` gives. */
function withoutInput(procedure: AnyProcedure): AnyProcedure {
  const { middlewares, meta } = procedure._def as unknown as { middlewares: ChainStep[]; meta: { openapi: object } }
  const view = async (options: { ctx: FacadeContext }) => {
    const result = await runChain(middlewares, 0, { ...options, meta, getRawInput: options.ctx.readInput })
    if (!result.ok) throw result.error
    return result.data
  }
  const bare = { ...procedure._def, inputs: [z.void()], meta: { openapi: { ...meta.openapi, path: '/' } } }
  return Object.assign(view, { _def: bare }) as unknown as AnyProcedure
}

interface ChainOptions {
  ctx: object
  meta: unknown
  getRawInput: () => Promise<unknown>
}
type ChainResult = { ok: true; data: unknown } | { ok: false; error: unknown }
type ChainStep = (
  options: ChainOptions & { next: (given?: Partial<ChainOptions>) => Promise<ChainResult> },
) => Promise<ChainResult>

/**
 * The way through a procedure's chain, as tRPC goes it, but for its copying of objects, which is compiled for engines
 * that had no spread: that alone is a tenth of a request.
 */
async function runChain(steps: readonly ChainStep[], at: number, options: ChainOptions): Promise<ChainResult> {
  const next = (given?: Partial<ChainOptions>) =>
    runChain(steps, at + 1, { ...options, ...given, ctx: given?.ctx ? { ...options.ctx, ...given.ctx } : options.ctx })
  try {
    return await steps[at]!({ ...options, next })
  } catch (cause) {
    return { ok: false, error: getTRPCErrorFromUnknown(cause) }
  }
}

const JSON_HEADERS = new Headers({ 'content-type': 'application/json' })

/** What the library reads of a request. It passes for a fetch Request, so that the library does not build one. */
class LibraryRequest {
  readonly url = '/'
  readonly headers = JSON_HEADERS
  readonly signal = undefined
  readonly body = undefined
  readonly method: string
  readonly context: FacadeContext
  error: unknown = undefined

  constructor(method: string, context: FacadeContext) {
    this.method = method
    this.context = context
  }
}
Object.setPrototypeOf(LibraryRequest.prototype, Request.prototype)

/** What the library writes of an answer, kept for the server to send. */
class LibraryResponse {
  statusCode = 200
  body: string | undefined
  setHeader() {}
  end(body?: string) {
    this.body = body
  }
}

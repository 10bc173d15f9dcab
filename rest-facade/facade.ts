import { createOpenApiNodeHttpHandler } from 'trpc-to-openapi'
import type { Context, Core } from '../routers/context.ts'
import { failureOf } from '../routers/database-errors.ts'
import { Placeholders } from '../routers/raw-json/placeholders.ts'
import { router } from '../routers/trpc.ts'
import type { FacadeContext } from './chain.ts'
import { withoutInput } from './chain.ts'
import type { Given } from './input.ts'
import { readInput } from './input.ts'
import type { Route } from './routes.ts'
import { routes } from './routes.ts'

/** Who calls, and what the server does for a call. */
export type Caller = Pick<Context, 'principal' | 'admit' | 'setHeader' | 'reserve'>

/** A status and, but for 204, JSON: a text, or bytes where it is large. */
export interface Answer {
  status: number
  body: string | Buffer | undefined
}

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

  return async (route: Route, given: Given, { principal, admit, setHeader, reserve }: Caller): Promise<Answer> => {
    const placeholders = new Placeholders()
    const { storageQuotaBytes } = core
    // Named one by one: to spread two objects into a third takes four times as long.
    const request = new LibraryRequest(route.method, {
      db: core.db,
      now: core.now,
      accessOf: core.accessOf,
      cipher: core.cipher,
      brand: core.brand,
      storageQuotaBytes,
      published: core.published,
      principal,
      admit,
      setHeader,
      reserve,
      json: placeholders.insert,
      readInput: () => readInput(route, given, storageQuotaBytes),
    })
    const response = new LibraryResponse()
    await handlers.get(route)!(request, response)
    if (request.error !== undefined) throw failureOf(request.error)
    const status = response.statusCode
    return { status, body: status === 204 ? undefined : await placeholders.render(response.body!) }
  }
}

function handlerOf({ procedure, meta }: Route): Handler {
  const view = withoutInput(procedure)
  const options = {
    // tRPC's own caller is a proxy for each step of the path and each request.
    router: Object.assign(router({ view }), { createCaller: (ctx: FacadeContext) => ({ view: () => view({ ctx }) }) }),
    createContext: ({ req }: { req: LibraryRequest }) => req.context,
    onError: ({ req, error }: { req: LibraryRequest; error: unknown }) => {
      req.error = error
    },
    responseMeta: ({ errors }: { errors: unknown[] }) => (errors.length > 0 ? {} : { status: meta.status ?? 200 }),
  }
  return createOpenApiNodeHttpHandler(options as never) as unknown as Handler
}

/** The library asks for the content type alone. */
const JSON_HEADERS = { get: () => 'application/json' }

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

import Koa from 'koa'
import type { Logger } from 'pino'
import { restFacade } from '../rest-facade/facade.ts'
import type { Core } from '../routers/context.ts'
import type { Authenticate } from './authenticate.ts'
import { authenticateStep } from './authenticate.ts'
import { cors } from './cors.ts'
import { documents } from './documents.ts'
import { health } from './health.ts'
import type { BaseUrls } from './locate.ts'
import { locate } from './locate.ts'
import type { Admit } from './rate-limit.ts'
import { respond } from './respond.ts'
import type { Room } from './room.ts'
import type { State, Step } from './state.ts'
import { readTarget } from './target.ts'
import { trpc } from './trpc.ts'

/** What a service is made of; a test gives its own clock, keys and limits. */
export interface Parts {
  core: Core
  baseUrls: BaseUrls
  authenticate: Authenticate
  admit: Admit
  room: Room
  log: Logger
  /** Whether the database answers and the service is not about to end. */
  ready: () => Promise<boolean>
  /** The authorization server; there is none beside an outside issuer. */
  oauth?: Step | undefined
  /** The sample app, where it is served. */
  example?: Step | undefined
}

/** The public port: the way of a REST request, step by step. */
export function createPublicApp({ core, baseUrls, authenticate, admit, room, log, oauth, example }: Parts) {
  const app = createKoa(log).use(respond(log, core.now)).use(cors).use(readTarget).use(locate(baseUrls))
  if (oauth) app.use(oauth)
  if (example) app.use(example)
  return app
    .use(documents(baseUrls))
    .use(authenticateStep(authenticate))
    .use(callProcedure(core, admit, room))
}

/** The internal port, for first-party apps and for whoever watches the service. */
export function createInternalApp({ core, authenticate, admit, room, log, ready }: Parts) {
  return createKoa(log)
    .use(respond(log, core.now))
    .use(readTarget)
    .use(trpc(core, authenticate, admit, room))
    .use(health(ready))
}

/** Koa, its own error page and its trust in X-Forwarded-* left off; a client that goes away is no error of ours. */
function createKoa(log: Logger): Koa<State> {
  const app = new Koa<State>({ proxy: false })
  app.silent = true
  app.on('error', (error) => log.debug({ err: error }, 'a client went away'))
  return app
}

/** The last step: the facade runs the procedure, and Koa sends what it answers. */
function callProcedure(core: Core, admit: Admit, room: Room): Step {
  const call = restFacade(core)
  return async (ctx) => {
    const { route, segments, search, principal } = ctx.state
    const setHeader = (name: string, value: string) => void ctx.res.setHeader(name, value)
    const share = room(ctx.res)
    const { status, body } = await call(
      route!,
      { request: ctx.req, segments, search },
      { principal: principal!, admit: (access) => admit(access, setHeader), setHeader, reserve: share.reserve },
    )
    share.assembled()
    ctx.status = status
    if (body === undefined) return
    setHeader('Content-Type', 'application/json; charset=utf-8')
    ctx.body = body
    // Koa compares the ETag with If-None-Match, for GET and HEAD.
    if (ctx.req.headers['if-none-match'] !== undefined && ctx.fresh) ctx.status = 304
  }
}

import Router from '@koa/router'
import Koa from 'koa'
import type { Logger } from 'pino'
import { restFacade } from '../rest-facade/facade.ts'
import type { Core } from '../routers/context.ts'
import { errors } from '../routers/errors.ts'
import type { Authenticate } from './authenticate.ts'
import { authenticateStep } from './authenticate.ts'
import { cors } from './cors.ts'
import { documents } from './documents.ts'
import type { BaseUrls } from './locate.ts'
import { locate } from './locate.ts'
import type { Admit } from './rate-limit.ts'
import { respond } from './respond.ts'
import type { State, Step } from './state.ts'
import { trpc } from './trpc.ts'

/** What a service is made of; a test gives its own clock, keys and limits. */
export interface Parts {
  core: Core
  baseUrls: BaseUrls
  authenticate: Authenticate
  admit: Admit
  log: Logger
  /** Whether the database answers and the service is not about to end. */
  ready: () => Promise<boolean>
}

const nothingHere: Step = () => {
  throw errors.addressUnknown()
}

/** The public port: the way of a REST request, step by step. */
export function createPublicApp({ core, baseUrls, authenticate, admit, log }: Parts) {
  const routed = documents(baseUrls)
  return createKoa(log)
    .use(respond(log, core.now))
    .use(cors)
    .use(locate(baseUrls))
    .use(unlessEndpoint(routed.routes() as unknown as Step))
    .use(unlessEndpoint(otherMethods(routed)))
    .use(unlessEndpoint(nothingHere))
    .use(authenticateStep(authenticate))
    .use(callProcedure(core, admit))
}

/** The internal port, for first-party apps and for whoever watches the service. */
export function createInternalApp({ core, authenticate, admit, log, ready }: Parts) {
  const health = new Router<State>()
  health.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' }
  })
  health.get('/readyz', async (ctx) => {
    if (!(await ready())) throw errors.unavailable()
    ctx.body = { status: 'ready' }
  })
  return createKoa(log)
    .use(respond(log, core.now))
    .use((ctx, next) => {
      const cut = ctx.req.url!.indexOf('?')
      ctx.state.path = cut < 0 ? ctx.req.url! : ctx.req.url!.slice(0, cut)
      ctx.state.search = cut < 0 ? '' : ctx.req.url!.slice(cut + 1)
      if (!ctx.state.path.startsWith('/')) throw errors.addressUnknown()
      return next()
    })
    .use(trpc(core, authenticate, admit))
    .use(health.routes() as unknown as Step)
    .use(otherMethods(health))
    .use(nothingHere)
}

/** Koa, its own error page and its trust in X-Forwarded-* left off; a client that goes away is no error of ours. */
function createKoa(log: Logger): Koa<State> {
  const app = new Koa<State>({ proxy: false })
  app.silent = true
  app.on('error', (error) => log.debug({ err: error }, 'a client went away'))
  return app
}

/** What has no procedure is routed by koa-router. */
const unlessEndpoint =
  (step: Step): Step =>
  (ctx, next) =>
    ctx.state.route ? next() : step(ctx, next)

/** 405 for a routed path with another method. */
const otherMethods = (router: Router<State>): Step => {
  const allowed = router.allowedMethods() as unknown as Step
  return async (ctx, next) => {
    await allowed(ctx, async () => {})
    if (ctx.status === 405) throw errors.methodWrong(ctx.response.get('Allow'))
    if (ctx.method === 'OPTIONS' && ctx.response.get('Allow')) ctx.status = 204
    else return next()
  }
}

/** The last step: the facade runs the procedure, and Koa sends what it answers. */
function callProcedure(core: Core, admit: Admit): Step {
  const call = restFacade(core)
  return async (ctx) => {
    const { route, segments, search, principal } = ctx.state
    const setHeader = (name: string, value: string) => ctx.set(name, value)
    const { status, body } = await call(
      route!,
      { request: ctx.req, segments, search },
      { principal: principal!, admit: (access) => admit(access, setHeader), setHeader },
    )
    ctx.status = status
    if (body === undefined) return
    ctx.type = 'application/json; charset=utf-8'
    ctx.body = body
    // Koa compares the ETag with If-None-Match, for GET and HEAD.
    if (ctx.fresh) ctx.status = 304
  }
}

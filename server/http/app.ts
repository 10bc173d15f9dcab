import Koa from 'koa'
import type { Logger } from 'pino'
import { restFacade } from '../../rest-facade/facade.ts'
import type { Access } from '../../routers/access.ts'
import type { Core } from '../../routers/context.ts'
import type { Authenticate } from '../tokens/authenticate.ts'
import { cors } from './cors.ts'
import { documents } from './documents.ts'
import type { BaseUrls } from './match-route.ts'
import { matchRoute } from './match-route.ts'
import type { ConsumeQuota } from './rate-limit.ts'
import { readTarget } from './request-target.ts'
import { respond } from './respond.ts'
import type { Room, Share } from './response-memory.ts'
import { isFresh, koaSends } from './send.ts'
import type { State, Step } from './state.ts'

/** The parts of the HTTP ports; tests give their own clock, keys and limits. */
export interface HttpParts {
  core: Core
  baseUrls: BaseUrls
  authenticate: Authenticate
  consumeQuota: ConsumeQuota
  room: Room
  log: Logger
  /** Whether the database responds and the service is not shutting down. */
  ready: () => Promise<boolean>
  /** The authorization server, unless an external issuer is configured. */
  oauth?: Step | undefined
  /** The sample app, in the trial. */
  example?: Step | undefined
}

/** The public port: the steps of a REST request, in their order. */
export function createPublicApp({ core, baseUrls, authenticate, consumeQuota, room, log, oauth, example }: HttpParts) {
  const app = createKoa(log)
    .use(respond(log, core.now))
    .use(cors)
    .use(readTarget)
    .use(matchRoute(baseUrls))
    .use(endpoint(core, authenticate, consumeQuota, room))
    .use(koaSends)
  if (oauth) app.use(oauth)
  if (example) app.use(example)
  return app.use(documents(baseUrls))
}

/** Koa without its own error output and without trust in X-Forwarded-*. */
export function createKoa(log: Logger): Koa<State> {
  const app = new Koa<State>({ proxy: false })
  app.silent = true
  app.on('error', (error) => log.debug({ err: error }, 'the client disconnected'))
  return app
}

/** Authenticates a request for an endpoint and calls its procedure. */
function endpoint(core: Core, authenticate: Authenticate, consumeQuota: ConsumeQuota, room: Room): Step {
  const call = restFacade(core)
  return async (ctx, next) => {
    const { state } = ctx
    if (!state.route) return next()
    const principal = await authenticate(ctx.req)
    state.principal = principal
    const setHeader = (name: string, value: string) => void state.headers.push(name, value)
    // Most responses are small and need none.
    let share: Share | undefined
    const reserve = (bytes: number) => {
      share ??= room(ctx.res)
      return share.reserve(bytes)
    }
    const given = { request: ctx.req, segments: state.segments, search: state.search }
    const caller = { principal, consumeQuota: (access: Access) => consumeQuota(access, setHeader), setHeader, reserve }
    state.response = await call(state.route, given, caller)
    share?.assembled()
    if (isFresh(ctx, state.response)) state.response = { status: 304, body: undefined }
  }
}

import Koa from 'koa'
import type { Logger } from 'pino'
import { restFacade } from '../../rest-facade/facade.ts'
import type { Access } from '../../routers/access.ts'
import type { Core } from '../../routers/context.ts'
import type { Authenticate } from '../tokens/authenticate.ts'
import { cors } from './cors.ts'
import { documents } from './documents.ts'
import type { BaseUrls } from './match-route.ts'
import { locate } from './match-route.ts'
import type { ConsumeQuota } from './rate-limit.ts'
import { readTarget } from './request-target.ts'
import { respond } from './respond.ts'
import type { Room, Share } from './response-memory.ts'
import { isFresh, koaSends } from './send.ts'
import type { State, Step } from './state.ts'

/** What a service is made of; a test gives its own clock, keys and limits. */
export interface Parts {
  core: Core
  baseUrls: BaseUrls
  authenticate: Authenticate
  consumeQuota: ConsumeQuota
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
export function createPublicApp({ core, baseUrls, authenticate, consumeQuota, room, log, oauth, example }: Parts) {
  const app = createKoa(log)
    .use(respond(log, core.now))
    .use(cors)
    .use(readTarget)
    .use(locate(baseUrls))
    .use(endpoint(core, authenticate, consumeQuota, room))
    .use(koaSends)
  if (oauth) app.use(oauth)
  if (example) app.use(example)
  return app.use(documents(baseUrls))
}

/** Koa, its own error page and its trust in X-Forwarded-* left off; a client that goes away is no error of ours. */
export function createKoa(log: Logger): Koa<State> {
  const app = new Koa<State>({ proxy: false })
  app.silent = true
  app.on('error', (error) => log.debug({ err: error }, 'a client went away'))
  return app
}

/** The last step of an endpoint's request: whose it is, and what the facade's procedure answers. */
function endpoint(core: Core, authenticate: Authenticate, consumeQuota: ConsumeQuota, room: Room): Step {
  const call = restFacade(core)
  return async (ctx, next) => {
    const { state } = ctx
    if (!state.route) return next()
    const principal = await authenticate(ctx.req)
    state.principal = principal
    const setHeader = (name: string, value: string) => void state.headers.push(name, value)
    // Most answers are small, and never ask for it.
    let share: Share | undefined
    const reserve = (bytes: number) => {
      share ??= room(ctx.res)
      return share.reserve(bytes)
    }
    const given = { request: ctx.req, segments: state.segments, search: state.search }
    const caller = { principal, consumeQuota: (access: Access) => consumeQuota(access, setHeader), setHeader, reserve }
    state.answer = await call(state.route, given, caller)
    share?.assembled()
    if (isFresh(ctx, state.answer)) state.answer = { status: 304, body: undefined }
  }
}

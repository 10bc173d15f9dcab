import { sampleApp } from '../../examples/third-party/serve.ts'
import { nameOf } from '../http/host-name.ts'
import type { BaseUrls } from '../http/match-route.ts'
import type { Step } from '../http/state.ts'

const HOST = 'example.localhost'
export const SAMPLE_CLIENT = 'example-app'

/** Serves the sample app at its own host; undefined when the package came without it. */
export function mountSampleApp({ apps: api, sync }: BaseUrls, issuer: string): Step | undefined {
  const handle = sampleApp({ api, sync, issuer, clientId: SAMPLE_CLIENT })
  if (!handle) return undefined
  return (ctx, next) => {
    if (nameOf(ctx.state.host) !== HOST) return next()
    ctx.respond = false
    ctx.state.address = ctx.state.path
    return handle(ctx.req, ctx.res, () => {
      ctx.respond = true
      delete ctx.state.address
      return next()
    })
  }
}

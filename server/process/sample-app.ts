import { sampleApp } from '../../examples/third-party/serve.ts'
import type { Database } from '../../prisma/client.ts'
import { nameOf } from '../http/host-name.ts'
import type { Step } from '../http/state.ts'
import { registerRedirects } from './redirects.ts'

const HOST = 'example.localhost'
const CLIENT = 'example-app'

/** Serves the sample app at its own host; undefined when the package came without it. */
export function mountSampleApp(api: string, issuer: string): Step | undefined {
  const handle = sampleApp({ api, issuer, clientId: CLIENT })
  if (!handle) return undefined
  return (ctx, next) => {
    if (nameOf(ctx.state.host) !== HOST) return next()
    ctx.respond = false
    return handle(ctx.req, ctx.res, () => {
      ctx.respond = true
      return next()
    })
  }
}

/** Registers the app's address as a redirect; false when its client has been removed. */
export const registerSampleApp = (db: Database, address: string) => registerRedirects(db, CLIENT, [address])

import { sampleApp } from '../../examples/third-party/serve.ts'
import type { Database } from '../../prisma/client.ts'
import { nameOf } from '../http/match-route.ts'
import type { Step } from '../http/state.ts'

const HOST = 'example.localhost'
const CLIENT = 'example-app'

/** Serves the sample app at its own host; undefined when the package came without it. */
export function mountSampleApp(api: string, issuer: string): Step | undefined {
  const handle = sampleApp({ api, issuer, clientId: CLIENT })
  if (!handle) return undefined
  return (ctx, next) => {
    if (nameOf(ctx.state.host) !== HOST) return next()
    ctx.respond = false
    handle(ctx.req, ctx.res)
  }
}

/**
 * Registers the app's address on this port as a redirect, and returns it; undefined when its client has been removed.
 * Addresses of other services on the same data stay.
 */
export async function registerSampleApp(db: Database, port: number): Promise<string | undefined> {
  const client = await db.client.findUnique({ where: { id: CLIENT }, select: { redirectUris: true } })
  if (!client) return undefined
  const address = `http://${HOST}:${port}/`
  if (!client.redirectUris.includes(address)) {
    await db.client.update({ where: { id: CLIENT }, data: { redirectUris: { push: address } } })
  }
  return address
}

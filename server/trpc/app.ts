import type { HttpParts } from '../http/app.ts'
import { createKoa } from '../http/app.ts'
import { health } from '../http/health.ts'
import { readTarget } from '../http/request-target.ts'
import { respond } from '../http/respond.ts'
import { koaSends } from '../http/send.ts'
import { trpc } from './handler.ts'

/** The internal port: tRPC for first-party apps, and the health checks. */
export function createInternalApp({ core, authenticate, consumeQuota, memory, log, ready }: HttpParts) {
  return createKoa(log)
    .use(respond(log, core.now))
    .use(koaSends)
    .use(readTarget)
    .use(trpc(authenticate, { core, consumeQuota, memory }))
    .use(health(ready))
}

import type { HttpParts } from '../http/app.ts'
import { createKoa } from '../http/app.ts'
import { catalogueAt } from '../http/catalogue.ts'
import { health } from '../http/health.ts'
import { readTarget } from '../http/request-target.ts'
import { resourceMetadata } from '../http/resource-metadata.ts'
import { respond } from '../http/respond.ts'
import { koaSends } from '../http/send.ts'
import { trpc } from './handler.ts'

export function createInternalApp(parts: HttpParts) {
  const {
    core,
    authenticate,
    consumeQuota,
    countPeople,
    memory,
    longPollSlots,
    log,
    ready,
    metrics,
    tracing,
    internalNames = [],
  } = parts
  return createKoa(log, tracing)
    .use(respond(log, core.now, metrics.http, resourceMetadata(parts.resources), catalogueAt(parts.resources, [])))
    .use(koaSends)
    .use(readTarget)
    .use(trpc(authenticate, { core, consumeQuota, countPeople, memory, longPollSlots }))
    .use(health({ ready, registry: metrics.registry, names: internalNames }))
}

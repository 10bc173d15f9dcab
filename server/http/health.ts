import { METHODS } from 'node:http'
import Router from '@koa/router'
import type { Registry } from 'prom-client'
import { errors } from '../../routers/kernel/errors.ts'
import { isInternalHost } from './host-name.ts'
import { routerStep } from './router-step.ts'
import type { State, Step } from './state.ts'

/** Whether the service is not shutting down, can verify tokens and, unless excluded, has its database. */
export type Ready = (withoutDatabase?: boolean) => Promise<boolean>

interface Parts {
  ready: Ready
  registry: Registry
  names: readonly string[]
}

/**
 * `/healthz` responds while the process is alive, `/readyz` while it can serve requests; `/metrics` is for Prometheus. With
 * `exclude=database`, named as in Kubernetes' own `/readyz`, a node stays ready while the database is unavailable, and reports
 * that itself.
 */
export function health({ ready, registry, names }: Parts): Step {
  const router = new Router<State>({ sensitive: true, strict: true, methods: METHODS })
  router.get('/metrics', async (ctx) => {
    ctx.state.operation = 'metrics'
    if (!isInternalHost(ctx.req.headers.host, names)) throw errors.addressUnknown()
    ctx.set('Content-Type', registry.contentType)
    ctx.body = await registry.metrics()
  })
  router.get('/healthz', (ctx) => {
    ctx.state.operation = 'health'
    ctx.body = { status: 'ok' }
  })
  router.get('/readyz', async (ctx) => {
    ctx.state.operation = 'health'
    const excluded = new URLSearchParams(ctx.state.search).get('exclude')
    if (!(await ready(excluded === 'database'))) throw errors.unavailable()
    ctx.body = { status: 'ready' }
  })
  return routerStep(router)
}

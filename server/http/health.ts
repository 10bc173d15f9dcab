import { METHODS } from 'node:http'
import Router from '@koa/router'
import type { Registry } from 'prom-client'
import { errors } from '../../routers/errors.ts'
import { routed } from './routed.ts'
import type { State, Step } from './state.ts'

/** `/healthz` responds while the process lives, `/readyz` while it can serve requests; `/metrics` is for Prometheus. */
export function health(ready: () => Promise<boolean>, metrics: Registry): Step {
  const router = new Router<State>({ sensitive: true, strict: true, methods: METHODS })
  router.get('/metrics', async (ctx) => {
    ctx.state.operation = 'metrics'
    ctx.set('Content-Type', metrics.contentType)
    ctx.body = await metrics.metrics()
  })
  router.get('/healthz', (ctx) => {
    ctx.state.operation = 'health'
    ctx.body = { status: 'ok' }
  })
  router.get('/readyz', async (ctx) => {
    ctx.state.operation = 'health'
    if (!(await ready())) throw errors.unavailable()
    ctx.body = { status: 'ready' }
  })
  return routed(router)
}

import { METHODS } from 'node:http'
import Router from '@koa/router'
import { errors } from '../../routers/errors.ts'
import { routed } from './routed.ts'
import type { State, Step } from './state.ts'

/** `/healthz` responds while the process lives, `/readyz` while it can serve requests. */
export function health(ready: () => Promise<boolean>): Step {
  const router = new Router<State>({ sensitive: true, strict: true, methods: METHODS })
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' }
  })
  router.get('/readyz', async (ctx) => {
    if (!(await ready())) throw errors.unavailable()
    ctx.body = { status: 'ready' }
  })
  return routed(router)
}

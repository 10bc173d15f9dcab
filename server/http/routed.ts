import type Router from '@koa/router'
import { errors } from '../../routers/kernel/errors.ts'
import type { State, Step } from './state.ts'

/** Uses a koa-router as the last step: other methods of its paths are 405, OPTIONS is 204, other paths are 404. */
export function routed(router: Router<State>): Step {
  const routes = router.routes() as unknown as Step
  const allowed = router.allowedMethods() as unknown as Step
  return (ctx) =>
    routes(ctx, async () => {
      await allowed(ctx, async () => {})
      if (ctx.status === 405) throw errors.methodWrong(ctx.response.get('Allow'))
      if (ctx.method !== 'OPTIONS' || !ctx.response.get('Allow')) throw errors.addressUnknown()
      ctx.status = 204
    })
}

import type Router from '@koa/router'
import type { RouterContext } from '@koa/router'
import { errors } from '../../routers/kernel/errors.ts'
import type { State, Step, StepContext } from './state.ts'

/** Uses a koa-router as the last step: other methods of its paths are 405, OPTIONS is 204, other paths are 404. */
export function routerStep(router: Router<State>): Step {
  const routes = router.routes() as unknown as Step
  const allowed = router.allowedMethods() as unknown as Step
  return async (ctx) => {
    try {
      await routes(ctx, async () => {
        await allowed(ctx, async () => {})
        if (ctx.status === 405) throw errors.methodWrong(ctx.response.get('Allow'))
        if (ctx.method !== 'OPTIONS' || !ctx.response.get('Allow')) throw errors.addressUnknown()
        ctx.status = 204
      })
    } finally {
      // Only `matched` has the path of a request with another method.
      const { routerPath, matched } = ctx as StepContext & Partial<Pick<RouterContext, 'routerPath' | 'matched'>>
      const pattern = routerPath ?? matched?.[0]?.path
      if (pattern !== undefined) ctx.state.address = String(pattern).replace(/:(\w+)/g, '{$1}')
    }
  }
}

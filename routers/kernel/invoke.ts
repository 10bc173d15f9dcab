import type { AnyProcedure } from '@trpc/server'
import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server'
import { withBounds } from './call-core.ts'
import type { Context } from './context.ts'
import type { Changes, Options, Result } from './trpc-internals.ts'
import { readDefinition } from './trpc-internals.ts'

/** As tRPC words it. */
const NO_RESULT = 'No result from middlewares - did you forget to `return next()`?'

/**
 * The procedure, run by our own loop over its middlewares; every caller uses it: REST, tRPC and this process. The
 * published code of tRPC copies its options twice a middleware: a storage GET spends 28 to 30 us in it, and 8 in this, of
 * about 100. test/unit/invoke.test.ts compares the two callers.
 */
export function invocable<P extends AnyProcedure>(procedure: P): P {
  const { middlewares, meta } = readDefinition(procedure)

  const invoke = async ({ ctx, path, type, signal, batchIndex, input, getRawInput }: Options): Promise<unknown> => {
    const run = async (
      at: number,
      ctx: object,
      input: unknown,
      getRawInput: Options['getRawInput'],
    ): Promise<Result> => {
      const next = (changes?: Changes) =>
        run(
          at + 1,
          changes?.ctx ? { ...ctx, ...changes.ctx } : ctx,
          changes && 'input' in changes ? changes.input : input,
          changes?.getRawInput ?? getRawInput,
        )
      try {
        return await middlewares[at]!({ ctx, path, type, meta, signal, batchIndex, input, getRawInput, next })
      } catch (cause) {
        return { ok: false, error: getTRPCErrorFromUnknown(cause) }
      }
    }
    const { core, call } = ctx as Partial<Context>
    const own = call ? { core: withBounds(core!, call), call } : (ctx as object)
    const running = run(0, own, input, getRawInput)
    const result = await (call?.deadline ? call.deadline.bound(running) : running)
    if (!result) throw new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message: NO_RESULT })
    if (!result.ok) throw result.error
    return result.data
  }
  return Object.assign(invoke, procedure)
}

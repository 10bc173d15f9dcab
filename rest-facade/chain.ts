import type { AnyProcedure } from '@trpc/server'
import { getTRPCErrorFromUnknown } from '@trpc/server'
import { z } from 'zod'
import type { Context } from '../routers/context.ts'

export type FacadeContext = Context & { readInput: () => Promise<unknown> }

/** A procedure as trpc-to-openapi sees it. */
type View = ((options: { ctx: FacadeContext }) => Promise<unknown>) & AnyProcedure

/** What tRPC gives to each step of a procedure's chain, and takes from it. */
interface StepOptions {
  ctx: object
  input: unknown
  type: unknown
  meta: unknown
  getRawInput: () => Promise<unknown>
  next: (given?: { ctx?: object; input?: unknown }) => Promise<StepResult>
}
type StepResult = { ok: true; data: unknown } | { ok: false; error: unknown }
type Step = (options: StepOptions) => Promise<StepResult>

/**
 * The same procedure, the same chain; declared without input and at `/`, its raw input being what `readInput` gives. The
 * chain is gone through as tRPC does it, but for its copying of objects, which is compiled for engines that had no
 * spread: that alone is a tenth of a request.
 */
export function withoutInput(procedure: AnyProcedure): View {
  const { middlewares, output, meta, type } = procedure._def as unknown as {
    middlewares: readonly (Step & { _type?: string })[]
    output: z.ZodType
    meta: { openapi: object; raw?: string }
    type: string
  }
  // Beside a raw field there is the head alone, and `readInput` has judged both.
  const isJudged = meta.raw !== undefined
  // A step that looks at nothing copies its result all the same.
  const steps = middlewares.filter((step) => step._type !== 'output' || !(output instanceof z.ZodUnknown))

  async function run(
    at: number,
    ctx: object,
    input: unknown,
    getRawInput: () => Promise<unknown>,
  ): Promise<StepResult> {
    const next: StepOptions['next'] = (given) =>
      run(
        at + 1,
        given?.ctx ? { ...ctx, ...given.ctx } : ctx,
        given && 'input' in given ? given.input : input,
        getRawInput,
      )
    try {
      const step = steps[at]!
      if (isJudged && step._type === 'input') return await next({ input: await getRawInput() })
      return await step({ ctx, input, type, meta, getRawInput, next })
    } catch (cause) {
      return { ok: false, error: getTRPCErrorFromUnknown(cause) }
    }
  }

  const view = async ({ ctx }: { ctx: FacadeContext }) => {
    const result = await run(0, ctx, undefined, ctx.readInput)
    if (!result.ok) throw result.error
    return result.data
  }
  const bare = { ...procedure._def, inputs: [z.void()], meta: { openapi: { ...meta.openapi, path: '/' } } }
  return Object.assign(view, { _def: bare }) as unknown as View
}

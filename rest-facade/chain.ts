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

/** What a chain makes of whatever a step throws. */
const failed = (cause: unknown): StepResult => ({ ok: false, error: getTRPCErrorFromUnknown(cause) })

/** Beside a raw field there is the head alone, and `readInput` has judged both. */
const judged: Step = async ({ getRawInput, next }) => next({ input: await getRawInput() })

/**
 * The same procedure, the same chain; declared without input and at `/`, its raw input being what `readInput` gives. The
 * chain is gone through as tRPC does it, but for its copies: a copied context has a shape of its own that V8 has never
 * seen, and each access to it is a search. Here what a step adds goes into the context, which is this call's alone.
 */
export function withoutInput(procedure: AnyProcedure): View {
  const { middlewares, output, meta, type } = procedure._def as unknown as {
    middlewares: readonly (Step & { _type?: string })[]
    output: z.ZodType
    meta: { openapi: object; raw?: string }
    type: string
  }
  const steps = middlewares
    // A step that looks at nothing copies its result all the same.
    .filter((step) => step._type !== 'output' || !(output instanceof z.ZodUnknown))
    .map((step) => (meta.raw !== undefined && step._type === 'input' ? judged : step))

  function run(at: number, ctx: FacadeContext, input: unknown): Promise<StepResult> {
    const next: StepOptions['next'] = (given) => {
      if (given?.ctx) Object.assign(ctx, given.ctx)
      return run(at + 1, ctx, given && 'input' in given ? given.input : input)
    }
    return steps[at]!({ ctx, input, type, meta, getRawInput: ctx.readInput, next }).catch(failed)
  }

  const view = ({ ctx }: { ctx: FacadeContext }) => run(0, ctx, undefined).then(dataOf)
  const bare = { ...procedure._def, inputs: [z.void()], meta: { openapi: { ...meta.openapi, path: '/' } } }
  return Object.assign(view, { _def: bare }) as unknown as View
}

function dataOf(result: StepResult): unknown {
  if (!result.ok) throw result.error
  return result.data
}

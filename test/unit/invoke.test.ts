import type { AnyProcedure } from '@trpc/server'
import { initTRPC, TRPCError } from '@trpc/server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { procedures } from '../../routers/index.ts'
import { invocable } from '../../routers/kernel/invoke.ts'

interface Seen {
  path: string
  type: string
  meta: unknown
  signal: unknown
  batchIndex: unknown
  input: unknown
  keys: string[]
}

const t = initTRPC.context<{ seen: Seen[]; calls: string[] }>().meta<{ name: string }>().create()

/** Records what a middleware is given. */
const observed = t.procedure.meta({ name: 'row' }).use(async ({ next, ...given }) => {
  const { ctx, path, type, meta, signal, input } = given
  const { batchIndex } = given as unknown as { batchIndex: unknown }
  ctx.seen.push({ path, type, meta, signal, batchIndex, input, keys: Object.keys(given).sort() })
  return next({ ctx: { added: 'by a middleware' } })
})
const pair = z.object({ a: z.coerce.number(), b: z.number().default(2) })

const cases: Record<string, AnyProcedure> = {
  'returns data': observed.query(() => ({ data: [1] })),
  'returns undefined': observed.mutation(() => undefined),
  'has an input with coercion and a default': observed.input(pair).query(({ input, ctx }) => [input, ctx.added]),
  'has an object-level refinement': observed
    .input(pair.refine(({ a, b }) => a < b, { error: 'a is less than b' }))
    .query(({ input }) => input),
  'has two inputs': observed
    .input(pair)
    .input(z.object({ c: z.string() }))
    .query(({ input }) => input),
  'has an input that transforms': observed
    .input(z.object({ a: z.string().transform(Number) }))
    .query(({ input }) => input),
  'has a middleware that changes the input': observed
    .input(z.looseObject({ a: z.unknown() }))
    .use(({ next, input }) => next({ input: { ...input, changed: true } } as never))
    .query(({ input }) => input),
  'has a middleware that changes the raw input': observed
    .use(({ next, getRawInput }) =>
      next({ getRawInput: async () => ({ ...((await getRawInput()) as object), b: 9 }) } as never),
    )
    .input(pair)
    .query(({ input }) => input),
  'has a middleware that reads the result': observed
    .use(async ({ next, ctx }) => {
      const result = await next()
      ctx.calls.push(result.ok ? 'ok' : result.error.message)
      return result
    })
    .query(() => {
      throw new Error('from the handler')
    }),
  'has a middleware that throws': observed
    .use(() => {
      throw new TRPCError({ code: 'FORBIDDEN', message: 'refused' })
    })
    .query(() => 1),
  'has a middleware that forgets next': observed.use((() => undefined) as never).query(() => 1),
  'has an output that is checked': observed.output(z.object({ n: z.number() })).query(() => ({ n: 1, more: 2 })),
  'has an output that does not fit': observed.output(z.object({ n: z.number() })).query(() => ({ n: 'x' }) as never),
  'has no input, and never asks for one': observed.query(() => 'done'),
}

const { signal } = new AbortController()

const inputs: unknown[] = [undefined, null, {}, { a: 1 }, { a: '1', b: 0 }, { a: 'x' }, { a: '3', c: 'c' }, [1]]

/** What a call returns or throws, and everything that its middlewares saw. */
async function readOutcome(procedure: AnyProcedure, input: unknown) {
  const ctx = { seen: [] as Seen[], calls: [] as string[] }
  let reads = 0
  const getRawInput = async () => {
    reads++
    return input
  }
  const { type } = procedure._def
  const outcome = await procedure({ ctx, path: 'a.b', type, getRawInput, signal, batchIndex: 3 }).then(
    (data) => ({ data }),
    (thrown: TRPCError) => ({
      thrown: [thrown.constructor.name, thrown.code, thrown.message, String(thrown.cause)],
    }),
  )
  return { outcome, reads, ...ctx, sameSignal: ctx.seen.every((seen) => seen.signal === signal) }
}

describe.each(Object.entries(cases))('a procedure that %s', (_title, procedure) => {
  it.each(inputs)("returns, throws and passes on the same as tRPC's own caller for %j", async (input) => {
    const own = await readOutcome(invocable(procedure), input)
    const trpc = await readOutcome(procedure, input)
    expect(own).toEqual(trpc)
    expect(own.sameSignal).toBe(true)
  })
})

it.each(Object.entries(procedures))('every procedure of the service %s keeps its definition', (_path, procedure) => {
  expect(procedure._def).toMatchObject({
    procedure: true,
    type: expect.stringMatching(/^(?:query|mutation|subscription)$/),
  })
  expect(invocable(procedure)._def).toBe(procedure._def)
})

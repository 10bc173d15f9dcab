import type { AnyProcedure } from '@trpc/server'
import type { z } from 'zod'

/** The schemas of a procedure's input. tRPC keeps them without a type, where trpc-to-openapi finds them too. */
export const inputsOf = ({ _def }: AnyProcedure) => (_def as unknown as { inputs: readonly z.ZodObject[] }).inputs

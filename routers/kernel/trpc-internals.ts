import type { AnyRouter, AnyTRPCProcedure } from '@trpc/server'
import type { z } from 'zod'
import type { Meta } from './meta.ts'

// tRPC has no documented way to read what a procedure was declared with. test/conformance/private-parts.test.ts has what is
// assumed here.

export type Options = Parameters<AnyTRPCProcedure>[0]
export type Result = { ok: true; data: unknown } | { ok: false; error: unknown }

export interface Changes {
  ctx?: object
  input?: unknown
  getRawInput?: Options['getRawInput']
}
type Middleware = (
  options: Options & { meta: unknown; next: (changes?: Changes) => Promise<Result> },
) => Promise<Result>

interface Definition {
  type: 'query' | 'mutation' | 'subscription'
  meta: Meta
  inputs: readonly z.ZodObject[]
  /** The steps of a call: those of `use`, of the inputs, of the output, and the resolver. */
  middlewares: readonly Middleware[]
}

export const readDefinition = (procedure: AnyTRPCProcedure) => procedure._def as unknown as Definition

/** The procedures of a router by their paths, e.g. `storage.put`. */
export const listProcedures = ({ _def }: AnyRouter) =>
  _def.procedures as unknown as Readonly<Record<string, AnyTRPCProcedure>>

export const readConfig = ({ _def }: AnyRouter) => _def._config

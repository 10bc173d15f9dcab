import type { AnyProcedure } from '@trpc/server'
import { initTRPC } from '@trpc/server'
import type { Context } from './context.ts'
import { ApiError, protocolError } from './errors.ts'
import { invocable } from './invoke.ts'
import type { Meta } from './meta.ts'

const t = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    isDev: false,
    errorFormatter({ shape, error }) {
      const { status, publicCode, reason, refused, message } = error instanceof ApiError ? error : protocolError(error)
      const { code, path } = shape.data
      return { ...shape, message, data: { code, httpStatus: status, path, error: publicCode, reason, refused } }
    },
  })

export const { procedure, createCallerFactory, mergeRouters } = t

/** tRPC's `router`, for procedures that every caller runs through `invoke`. */
export const router: typeof t.router = (record) => {
  const entries = Object.entries(record).map(([name, part]) => [name, isProcedure(part) ? invocable(part) : part])
  return t.router(Object.fromEntries(entries) as typeof record)
}

const isProcedure = (part: unknown): part is AnyProcedure => typeof part === 'function'

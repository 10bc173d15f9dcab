import { z } from 'zod'
import { authorizer } from './authorize.ts'
import { toFailure } from './database-errors.ts'
import type { PlainError } from './errors.ts'
import { ApiError, errors } from './errors.ts'
import type { Described, Meta, Row, Words } from './meta.ts'
import type { AccessPolicy } from './policies.ts'
import type { FirstPartyScope, Scope } from './scopes.ts'
import { procedure } from './trpc.ts'

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

/** Begins a procedure that REST has as well. Every procedure begins with this or `internal`, so none lacks a scope. */
export function endpoint<Granted extends object>(
  line: `${Method} /${string}`,
  scope: Scope | null,
  policy: AccessPolicy<Granted>,
  row: Row & Words,
) {
  const [method, path] = line.split(' ') as [Method, `/${string}`]
  return guarded({
    ...row,
    openapi: { method, path, summary: row.summary, description: row.description },
    scope,
    policy,
  })
}

/** Begins a procedure without a REST path. */
export function internal<Granted extends object>(
  scope: FirstPartyScope,
  policy: AccessPolicy<Granted>,
  described: Described,
) {
  return guarded({ ...described, scope, policy })
}

/** Begins the stream of an endpoint: a subscription over tRPC, server-sent events over REST. */
export function stream<Granted extends object>(scope: Scope, policy: AccessPolicy<Granted>, described: Described) {
  return guarded({ ...described, scope, policy })
}

/** One middleware before the handler: what leaves it is data or an ApiError. */
function guarded<Granted extends object>(meta: Meta & { policy: AccessPolicy<Granted> }) {
  const authorize = authorizer(meta)
  return procedure.meta(meta).use(async ({ ctx, type, next }) => {
    const result = await next({ ctx: await authorize(ctx) })
    if (result.ok || result.error instanceof ApiError) return result
    const { cause, code } = result.error
    if (code === 'BAD_REQUEST' && cause instanceof z.core.$ZodError) throw inputError(cause, type)
    throw toFailure(result.error)
  })
}

/** The first issue of an input: the row of the catalogue that its schema names, or a sentence with the default status. */
export function inputError({ issues }: z.core.$ZodError, type: string): ApiError {
  const { message, path } = issues[0]!
  const error = toError(message, path, type)
  error.field = path.length > 0 ? String(path[0]) : undefined
  return error
}

function toError(message: string, path: readonly PropertyKey[], type: string): ApiError {
  if (Object.hasOwn(errors, message)) return errors[message as PlainError]()
  const status = type === 'mutation' ? 400 : 422
  if (message.endsWith('.')) return errors.inputInvalid(status, message)
  return errors.inputInvalid(status, `${path.join('.').slice(0, 64) || 'The input'}: ${message.slice(0, 100)}.`)
}

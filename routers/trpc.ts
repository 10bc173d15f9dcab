import { initTRPC } from '@trpc/server'
import type { OpenApiMeta } from 'trpc-to-openapi'
import { z } from 'zod'
import type { Context } from './context.ts'
import { failureOf } from './database-errors.ts'
import type { PlainError } from './errors.ts'
import { ApiError, errors, protocolError } from './errors.ts'
import type { FirstPartyScope, Scope } from './scopes.ts'

export type Section = 'apps' | 'lms' | 'notify'

/** For whom an endpoint is, beyond the scope: checked in this order, before any of its input is read. */
export interface Audience {
  section: Section
  level?: 'developer'
  /** Only clients that belong to an app. */
  app?: true
  /** Only current members of an organisation of this kind. */
  memberOf?: 'club' | 'academy' | 'provider'
  /** Only clients of the platform itself, which need no member. */
  firstParty?: true
}

/** Whoever holds a valid token. */
export const anyone: Audience = { section: 'apps' }
export const clubMembers: Audience = { section: 'apps', memberOf: 'club' }
export const clubApps: Audience = { section: 'apps', app: true, memberOf: 'club' }
export const learners: Audience = { section: 'lms', level: 'developer', memberOf: 'academy' }
export const providers: Audience = { section: 'notify', level: 'developer', memberOf: 'provider' }
export const academyPlatform: Audience = { section: 'lms', firstParty: true }
export const providerPlatform: Audience = { section: 'notify', firstParty: true }

interface Described {
  summary: string
  /** The errors of its own, beside those of its audience and of its input. */
  fails?: readonly PlainError[]
}

/** How an endpoint looks over REST, where that is not plain from its line. */
interface Row extends Described {
  /** Status of success; 200 if nothing is said. */
  status?: 201 | 204
  /** Input that PUT and POST take from the query. */
  query?: readonly string[]
  /** Input that is taken from a header. */
  headers?: Readonly<Record<string, string>>
  /** The one field of the body whose content is given on as the text it came as (RawJson). */
  raw?: string
}

/** An endpoint, and a procedure that tRPC alone has: without `openapi`. */
export interface Meta extends OpenApiMeta, Row {
  scope: Scope | FirstPartyScope | null
  audience: Audience
}

const t = initTRPC
  .context<Context>()
  .meta<Meta>()
  .create({
    isDev: false,
    errorFormatter({ shape, error }) {
      const { status, publicCode, reason, message } = error instanceof ApiError ? error : protocolError(error)
      const { code, path } = shape.data
      return { ...shape, message, data: { code, httpStatus: status, path, error: publicCode, reason } }
    },
  })

export const { router, createCallerFactory } = t

/**
 * What stands before every procedure, in the documented order of refusals: token, quota, scope, level, app, member.
 * What leaves it is data or an ApiError, never anything else. One step, as each costs more than all of its checks.
 */
const gate = t.middleware(async ({ ctx, meta, type, next }) => {
  const { scope, audience } = meta!
  const { sections } = ctx.principal
  if (sections && !sections.has(audience.section)) throw errors.tokenInvalid()
  const access = await ctx.accessOf(ctx.principal)
  if (!access) throw errors.tokenInvalid()
  const { member } = ctx.principal
  if (member === null && !(audience.firstParty && access.team === null)) throw errors.tokenInvalid()
  await ctx.admit(access)
  if (scope !== null && !ctx.principal.scopes.has(scope)) throw errors.scopeMissing(scope)
  if (audience.level && access.level !== audience.level) throw errors.levelTooLow()
  if (audience.firstParty && access.team !== null) throw errors.clientNotFirstParty()
  if (audience.app && access.app === null) throw errors.clientNotApp(ctx.brand)
  if (audience.memberOf && access.memberOf !== audience.memberOf) throw errors.memberUnknown(audience.memberOf)

  const result = await next({ ctx: { app: access.app ?? '', member: member ?? '' } })
  if (result.ok || result.error instanceof ApiError) return result
  const { cause, code } = result.error
  if (code === 'BAD_REQUEST' && cause instanceof z.core.$ZodError) throw inputError(cause, type)
  throw failureOf(result.error)
})

/** The first thing that is wrong with an input: the row that its schema names, or a sentence with the default status. */
export function inputError({ issues }: z.core.$ZodError, type: string): ApiError {
  const { message, path } = issues[0]!
  if (Object.hasOwn(errors, message)) return errors[message as PlainError]()
  const status = type === 'query' ? 422 : 400
  if (message.endsWith('.')) return errors.inputInvalid(status, message)
  return errors.inputInvalid(status, `${path.join('.').slice(0, 64) || 'The input'}: ${message.slice(0, 100)}.`)
}

type Line = `${'GET' | 'PUT' | 'POST' | 'DELETE'} /${string}`

/** Begins a procedure with its row of the endpoint table. This, or `internal`, begins each, so that none lacks a scope. */
export function endpoint(line: Line, scope: Scope | null, audience: Audience, row: Row) {
  const [method, path] = line.split(' ') as ['GET' | 'PUT' | 'POST' | 'DELETE', `/${string}`]
  return t.procedure.meta({ ...row, openapi: { method, path, summary: row.summary }, scope, audience }).use(gate)
}

/** Begins a procedure that has no REST path: it is called over tRPC alone. */
export function internal(scope: FirstPartyScope, audience: Audience, described: Described) {
  return t.procedure.meta({ ...described, scope, audience }).use(gate)
}

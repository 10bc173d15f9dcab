import type { Access, Principal } from './access.ts'
import type { Context } from './context.ts'
import type { ApiError } from './errors.ts'
import { errors } from './errors.ts'
import type { AccessPolicy, Requirements } from './policies.ts'
import type { FirstPartyScope, Scope } from './scopes.ts'

export interface Guarded {
  scope: Scope | FirstPartyScope | null
  policy: AccessPolicy
}

interface Check {
  /** True if the endpoint has this check. */
  applies: (row: Guarded) => boolean
  passes: (caller: { principal: Principal; access: Access }, row: Guarded) => boolean
  error: (row: Guarded, brand: string) => ApiError
}

const requires = (name: keyof Requirements) => (row: Guarded) => row.policy.requires[name] !== undefined

const checks: readonly Check[] = [
  {
    applies: ({ scope }) => scope !== null,
    passes: ({ principal, access }, { scope }) =>
      principal.scopes.has(scope!) && (!principal.ownToken || access.scopes.includes(scope!)),
    error: ({ scope }) => errors.scopeMissing(scope!),
  },
  {
    applies: requires('level'),
    passes: ({ access }, { policy }) => access.level === policy.requires.level,
    error: errors.levelTooLow,
  },
  {
    applies: requires('firstParty'),
    passes: ({ access }) => access.team === null,
    error: errors.clientNotFirstParty,
  },
  {
    applies: requires('app'),
    passes: ({ access }) => access.app !== null,
    error: (_row, brand) => errors.clientNotApp(brand),
  },
  {
    applies: ({ policy }) => policy.requires.appItself === 'required',
    passes: ({ principal }) => principal.member === null,
    error: errors.appItselfNeeded,
  },
  {
    applies: requires('memberOf'),
    passes: ({ access }, { policy }) => access.memberOf === policy.requires.memberOf,
    error: ({ policy }) => errors.memberUnknown(policy.requires.memberOf!),
  },
]

/**
 * The errors with which an endpoint can refuse a caller with a valid token, in the order of the checks; the OpenAPI documents
 * list them.
 */
export const listRefusals = (row: Guarded, brand: string): ApiError[] =>
  checks.filter(({ applies }) => applies(row)).map(({ error }) => error(row, brand))

/** Whether a caller that an endpoint has once granted access still has it. */
export function stillAllows(row: Guarded) {
  const applicable = checks.filter(({ applies }) => applies(row))
  return (principal: Principal, access: Access | undefined): boolean =>
    access !== undefined && !access.suspended && applicable.every(({ passes }) => passes({ principal, access }, row))
}

/**
 * Checks token, rate limit and the row's requirements, in this order, and throws. Resolves to the part of the context that the
 * policy grants. From then on the call's statements take connections of its team's share.
 */
export function authorizer<Granted extends object>(row: Pick<Guarded, 'scope'> & { policy: AccessPolicy<Granted> }) {
  const { requires, grant } = row.policy
  const applicable = checks.filter(({ applies }) => applies(row))

  return async ({ core, call }: Context): Promise<Granted> => {
    const { principal } = call
    if (principal.sections && !principal.sections.has(requires.section)) throw errors.tokenInvalid()
    const access = await core.findAccess(principal)
    if (!access) throw errors.tokenInvalid()
    // On notify the procedures report that the app is suspended, so that its team learns why.
    if (access.suspended && requires.section !== 'notify') throw errors.tokenInvalid()
    const needsMember = requires.person || !(access.team === null ? requires.firstParty : requires.appItself)
    if (principal.member === null && needsMember) throw errors.tokenInvalid()
    await call.consumeQuota(access)
    const caller = { principal, access }
    for (const check of applicable) if (!check.passes(caller, row)) throw check.error(row, core.brand)
    if (requires.person) await call.countPeople?.('person', principal.member!)
    call.team = access.team
    return grant(principal, access)
  }
}

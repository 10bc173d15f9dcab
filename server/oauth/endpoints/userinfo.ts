import type { Database } from '../../../prisma/client.ts'
import { statement, text } from '../../../prisma/pg/statement.ts'
import type { AccessLookup } from '../../../routers/kernel/access.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import type { IdentityScope } from '../../../routers/kernel/identity-scopes.ts'
import { JSON_TYPE } from '../../http/send.ts'
import type { StepContext } from '../../http/state.ts'
import type { Limits } from '../../limits/limit.ts'
import { requestLimit } from '../../limits/limit.ts'
import type { Authenticate } from '../../tokens/authenticate.ts'

/** Per minute and consent: an app needs the claims once for each sign-in. */
export const MAX_USERINFO = 60

interface Options {
  db: Database
  authenticate: Authenticate
  findAccess: AccessLookup
  limits: Limits
}

const find = statement(
  'userinfo',
  'SELECT "firstName", "lastName", image, email FROM "Person" WHERE id = $member',
  { member: text },
  {
    firstName: text,
    lastName: text,
    image: text,
    email: text,
  },
)

/**
 * OpenID Connect Core, 5.3, with the access token of the APIs: oidc-provider's own takes tokens that are for nothing else. Throws
 * 401 once the access has ended, 403 without `openid`, 429.
 */
export function userinfo({ db, authenticate, findAccess, limits }: Options) {
  const isWithinLimit = requestLimit(limits, 'userinfo', MAX_USERINFO)

  return async (ctx: StepContext) => {
    const principal = await authenticate(ctx.req)
    const { member, grant, scopes } = principal
    const access = await findAccess(principal)
    if (member === null || grant === undefined || !access || access.suspended || !access.memberOf) {
      throw errors.tokenInvalid()
    }
    const has = (scope: IdentityScope) => scopes.has(scope) && access.scopes.includes(scope)
    if (!has('openid')) throw errors.scopeMissing('openid')
    if (!(await isWithinLimit(grant))) throw errors.rateLimited(60)
    const [person] = await db.execute(find, { member })
    if (!person) throw errors.tokenInvalid()
    const { firstName, lastName, image, email } = person
    ctx.set('Cache-Control', 'no-store')
    ctx.type = JSON_TYPE
    const claims = {
      sub: member,
      ...(has('profile') && {
        name: `${firstName} ${lastName}`.trim(),
        given_name: firstName,
        family_name: lastName,
        picture: image,
      }),
      ...(has('email') && { email }),
    }
    // 5.3.2: a claim without a value is absent, not empty.
    ctx.body = JSON.stringify(claims, (_, value) => (value === '' ? undefined : value))
  }
}

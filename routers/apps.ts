import { z } from 'zod'
import { isPostgresText } from './access.ts'
import type { Context } from './context.ts'

/** The id of an app, in an input of this name. Malformed, it is 422 when read and 400 when written. */
export function appId(name: string) {
  const invalid = { error: `${name} is 1 to 64 letters, digits, '_' or '-'.` }
  return z.string(invalid).regex(/^[A-Za-z0-9_-]{1,64}$/, invalid)
}

/** The provider that the token is for; '', which is nobody's id, where it names something that cannot be one. */
export const providerOf = ({ principal: { organisation } }: Context) =>
  isPostgresText(organisation) ? organisation : ''

/** The app, of the provider that the token was released for: of another provider there is none. */
export const own = (ctx: Context, id: string) => ({ id, providerId: providerOf(ctx) })

import { randomUUID } from 'node:crypto'
import { isPostgresText } from '../../routers/access.ts'
import { errors } from '../../routers/errors.ts'
import type { StepContext } from '../http/state.ts'
import { browserSession } from './browser-session.ts'
import { consentsOf, nameOf, withdraw } from './consents.ts'
import { goTo, languageFor, readForm, show, showMessage } from './page-answers.ts'
import { connectedPage } from './pages/pages.ts'
import type { OauthParts } from './parts.ts'
import type { SealedCookies } from './sealed-cookies.ts'
import type { Attempt, SignIn } from './sign-in.ts'

const ATTEMPT = 'member_attempt'

/** Connected apps: what a member allowed, and a way to take it back. */
export function connected({ db, now, provider, path }: OauthParts, signIn: SignIn, cookies: SealedCookies) {
  const action = `${path}/connected`
  const sessionOf = (ctx: StepContext) => browserSession(provider(), ctx.req, ctx.res, path)

  /** Who is signed in in this browser. */
  const memberOf = async (ctx: StepContext) => {
    const { person } = await sessionOf(ctx)
    const name = person === undefined ? null : await nameOf(db, person)
    return name === null ? undefined : { id: person!, name }
  }

  const attempt = (ctx: StepContext): Attempt => {
    const known = cookies.get<string>(ctx, ATTEMPT)
    const id = known ?? randomUUID()
    if (known === undefined) cookies.put(ctx, ATTEMPT, action, id)
    return {
      id,
      action,
      app: null,
      async finish(person) {
        cookies.remove(ctx, ATTEMPT, action)
        await (await sessionOf(ctx)).signIn(person)
        return action
      },
    }
  }

  const list = async (ctx: StepContext, member: { id: string; name: string }, withdrawn?: string) => {
    const apps = await consentsOf(db, member.id, now())
    const view = { language: languageFor(ctx), action, member: member.name, apps }
    show(ctx, connectedPage({ ...view, ...(withdrawn !== undefined && { withdrawn }) }))
  }

  return {
    attempt,
    async get(ctx: StepContext) {
      const member = await memberOf(ctx)
      return member ? list(ctx, member) : signIn.page(ctx, attempt(ctx))
    },
    async withdraw(ctx: StepContext) {
      const member = await memberOf(ctx)
      if (!member) return goTo(ctx, action)
      const consent = (await readForm(ctx)).get('consent') ?? ''
      const gone = isPostgresText(consent) ? await withdraw(db, member.id, consent, now()) : undefined
      if (gone === undefined) throw errors.addressUnknown()
      return list(ctx, member, gone)
    },
    async signOut(ctx: StepContext) {
      await (await sessionOf(ctx)).signOut()
      showMessage(ctx, 'signedOut', 200)
    },
  }
}

import { randomUUID } from 'node:crypto'
import type { PortalLanguage } from '../browser/language.ts'
import { portalLanguage } from '../browser/language.ts'
import { Elsewhere, redirect } from '../browser/page-responses.ts'
import type { PageRoutes } from '../browser/page-routes.ts'
import type { SignInAttempt } from '../browser/sign-in/pages.ts'
import type { StepContext } from '../http/state.ts'

const [ATTEMPT, KEPT, NEXT] = ['developer_attempt', 'developer_kept', 'developer_next']

/** After this time since the sign-in, a person can still read, but must sign in again to make changes. */
const RECENT_SECONDS = 15 * 60

/** A form that was posted too long after the sign-in. It is stored encrypted in the browser, and submitted after a new one. */
export interface KeptForm {
  person: string
  route: string
  params: Readonly<Record<string, string>>
  body: string
}

interface Attempt {
  id: string
  address: string
  form?: KeptForm
}

interface Options {
  now: () => number
  /** Called once a person has signed in. */
  signedIn: (person: string, language: PortalLanguage) => Promise<void>
}

export function portalSignIn({ path, signIn, cookies, readSession }: PageRoutes, { now, signedIn }: Options) {
  const root = `${path}/developers`
  const action = `${root}/sign-in`
  const beginnings = [action, `${action}/upstream`]
  const readAttempt = (ctx: StepContext) => cookies.get<Attempt>(ctx, ATTEMPT)
  const begin = (ctx: StepContext, address: string, form?: KeptForm) => {
    // Another tab's sign-in goes on.
    const id = readAttempt(ctx)?.id ?? randomUUID()
    const attempt: Attempt = { id, address, ...(form && { form }) }
    cookies.set(ctx, ATTEMPT, action, attempt)
    return attempt
  }

  const attempt = async (ctx: StepContext): Promise<SignInAttempt> => {
    const current = readAttempt(ctx)
    // A form that was sent twice, or another tab's way back from the provider: the person has signed in.
    const isOver = current === undefined && !beginnings.includes(ctx.state.path)
    if (isOver && (await readSession(ctx)).person !== undefined) {
      throw new Elsewhere(cookies.get<string>(ctx, NEXT) ?? root)
    }
    const { id, address, form } = current ?? begin(ctx, root)
    return {
      id,
      action,
      app: null,
      pages: 'developers',
      async finish(person) {
        cookies.clear(ctx, ATTEMPT, action)
        await (await readSession(ctx)).signIn(person, now())
        await signedIn(person, portalLanguage(ctx))
        const isKept = form?.person === person
        if (isKept) cookies.set(ctx, KEPT, `${root}/continue`, form)
        const next = isKept ? `${root}/continue` : address
        cookies.set(ctx, NEXT, action, next)
        return next
      },
    }
  }

  return {
    root,
    attempt,
    show: async (ctx: StepContext) => signIn.showForm(ctx, await attempt(ctx)),
    /** Asks to sign in, then continues at the address, or with the form. */
    ask(ctx: StepContext, address: string, form?: KeptForm) {
      begin(ctx, address, form)
      redirect(ctx, action)
    },
    isRecent: (since: number | undefined) => since !== undefined && now() / 1000 - since <= RECENT_SECONDS,
    takeForm(ctx: StepContext, person: string) {
      const form = cookies.get<KeptForm>(ctx, KEPT)
      cookies.clear(ctx, KEPT, `${root}/continue`)
      return form?.person === person ? form : undefined
    },
  }
}

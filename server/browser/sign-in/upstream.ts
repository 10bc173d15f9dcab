import { comparableEmail } from '../../../routers/kernel/email-address.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import type { StepContext } from '../../http/state.ts'
import { findPersons } from '../login/upstream-identity.ts'
import { redirect } from '../page-responses.ts'
import type { SignInAttempt, SignInOptions, SignInPages } from './pages.ts'

const UPSTREAM = 'member_away'

interface PendingSignIn {
  id: string
  action: string
  state: string
}

/** Sign-in at the upstream OpenID provider takes three requests. */
export function upstreamSignIn({ db, now, loginMethods, cookies, callbackPath }: SignInOptions, pages: SignInPages) {
  return {
    async startUpstream(ctx: StepContext, attempt: SignInAttempt) {
      if (!loginMethods.upstream) throw errors.addressUnknown()
      const started = await loginMethods.upstream.start().catch((cause) => {
        ctx.state.cause = cause
      })
      if (!started) return pages.showForm(ctx, attempt, 'upstreamFailed')
      const pending: PendingSignIn = { id: attempt.id, action: attempt.action, state: started.state }
      cookies.set(ctx, UPSTREAM, callbackPath, pending)
      redirect(ctx, started.url)
    },

    /** The redirect URI, shared by all attempts: continues the attempt that started the sign-in. */
    async callback(ctx: StepContext, url: URL) {
      const pending = cookies.get<PendingSignIn>(ctx, UPSTREAM)
      if (!loginMethods.upstream || !pending) throw errors.addressUnknown()
      cookies.clear(ctx, UPSTREAM, callbackPath)
      const { id, action, state } = pending
      const identity = await loginMethods.upstream.finish(url, state).catch((cause) => {
        ctx.state.cause = cause
      })
      const persons = identity ? await findPersons(db, identity, now()) : []
      const proved = identity?.email ? comparableEmail(identity.email) : null
      pages.saveCandidates(ctx, action, {
        id,
        persons,
        ...(identity ? { identity } : { problem: 'upstreamFailed' }),
        ...(proved !== null && { proved }),
      })
      redirect(ctx, `${action}/person`)
    },

    /** Signs in the member that the upstream provider identified, or shows an error. */
    async finishUpstream(ctx: StepContext, attempt: SignInAttempt) {
      const candidates = pages.candidates(ctx, attempt)
      return candidates ? pages.select(ctx, attempt, candidates) : redirect(ctx, attempt.action)
    },
  }
}

import { comparableEmail } from '../../../routers/kernel/email-address.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import type { StepContext } from '../../http/state.ts'
import { findPersons } from '../login/upstream-identity.ts'
import { redirect } from '../page-responses.ts'
import type { SignInAttempt, SignInOptions, SignInPages } from './pages.ts'
import { toForm } from './pages.ts'

const [AWAY, TURN] = ['member_away', 'member_turn']

/** Sign-ins of a browser at the provider at once; another one takes the place of the first. Each takes 600 bytes of cookies. */
const PLACES = 6
/** The former release has the first one alone. */
const places = Array.from({ length: PLACES }, (_, place) => (place === 0 ? AWAY : `${AWAY}_${place}`))

interface PendingSignIn {
  id: string
  action: string
  /** The `state` in the provider's answer; the former release stored none. */
  sent?: string | null
  state: string
}

const readState = (url: URL) => url.searchParams.get('state')

/** Sign-in at the upstream OpenID provider takes three requests. */
export function upstreamSignIn({ db, now, loginMethods, cookies, callbackPath }: SignInOptions, pages: SignInPages) {
  const path = callbackPath.slice(0, callbackPath.lastIndexOf('/'))
  return {
    async startUpstream(ctx: StepContext, attempt: SignInAttempt) {
      if (!loginMethods.upstream) throw errors.addressUnknown()
      const started = await loginMethods.upstream.start().catch((cause) => {
        ctx.state.cause = cause
      })
      if (!started) return pages.showForm(ctx, attempt, 'upstreamFailed')
      const { id, action } = attempt
      const pending: PendingSignIn = { id, action, sent: readState(new URL(started.url)), state: started.state }
      // Cookies of the callback are not sent here.
      const turn = ((cookies.get<number>(ctx, TURN) ?? -1) + 1) % PLACES
      cookies.set(ctx, TURN, path, turn)
      cookies.set(ctx, places[turn]!, callbackPath, pending)
      redirect(ctx, started.url)
    },

    /** The redirect URI, shared by all attempts: continues the attempt that started the sign-in. */
    async callback(ctx: StepContext, url: URL) {
      const away = places.flatMap((place) => {
        const pending = cookies.get<PendingSignIn>(ctx, place)
        return pending ? [{ place, ...pending }] : []
      })
      const own = away.find(({ sent }) => sent === readState(url))
      // An answer to none of them fails, and leaves them as they are.
      const pending = own ?? away[0]
      if (!loginMethods.upstream || !pending) throw errors.addressUnknown()
      const { place, id, action, sent, state } = pending
      if (own || sent === undefined) cookies.clear(ctx, place, callbackPath)
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
      return candidates ? pages.select(ctx, attempt, candidates) : redirect(ctx, toForm(attempt))
    },
  }
}

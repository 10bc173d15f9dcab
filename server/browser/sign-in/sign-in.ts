import { isPostgresText } from '../../../routers/kernel/access.ts'
import { comparableEmail } from '../../../routers/kernel/email-address.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import type { StepContext } from '../../http/state.ts'
import { selectableMember } from '../login/development.ts'
import { pageContext } from '../page-context.ts'
import { redirect } from '../page-responses.ts'
import type { SignInAttempt, SignInOptions, SignInPages } from './pages.ts'
import { createSignInPages, toForm } from './pages.ts'
import { upstreamSignIn } from './upstream.ts'

type SignInStep = (ctx: StepContext, attempt: SignInAttempt, form: URLSearchParams) => Promise<void>

/** The sign-in forms, keyed by the last path segment that they post to. */
function signInSteps({ db, loginMethods, browsers }: SignInOptions, pages: SignInPages): Record<string, SignInStep> {
  return {
    async email(ctx, attempt, form) {
      if (!loginMethods.codes) throw errors.addressUnknown()
      const email = (form.get('email') ?? '').trim()
      const sender = { address: ctx.state.clientAddress ?? '', browser: browsers.idIfKnown(ctx, email) }
      const outcome = await loginMethods.codes.send(attempt.id, email, pageContext(ctx).w, sender)
      pages.setRefused(ctx, attempt.action, outcome !== 'sent')
      if (outcome !== 'sent') return pages.showForm(ctx, attempt, outcome, email)
      pages.saveEmail(ctx, attempt.action, email)
      pages.showCode(ctx, attempt, email)
    },

    async code(ctx, attempt, form) {
      const email = pages.email(ctx)
      if (!loginMethods.codes || email === undefined) return pages.showForm(ctx, attempt, 'codeExpired')
      const outcome = await loginMethods.codes.check(attempt.id, form.get('code') ?? '')
      if (outcome === 'codeExpired') {
        pages.clearEmail(ctx, attempt.action)
        return pages.showForm(ctx, attempt, outcome)
      }
      if (outcome === 'codeWrong') return pages.showCode(ctx, attempt, email, outcome)
      const candidates = { id: attempt.id, ...outcome, proved: outcome.email }
      pages.saveCandidates(ctx, attempt.action, candidates)
      return pages.select(ctx, attempt, candidates)
    },

    async pick(ctx, attempt, form) {
      const person = form.get('member') ?? ''
      if (!loginMethods.developmentLogin) throw errors.addressUnknown()
      const member = isPostgresText(person) ? await selectableMember(db, person) : null
      if (!member) return pages.showForm(ctx, attempt, 'memberUnknown')
      const proved = comparableEmail(member.email)
      return pages.complete(ctx, attempt, member.id, proved === null ? {} : { proved })
    },

    async person(ctx, attempt, form) {
      const candidates = pages.candidates(ctx, attempt)
      const person = candidates?.persons.find(({ id }) => id === form.get('person'))
      if (!person) return pages.showForm(ctx, attempt, 'memberUnknown')
      // An account shared by several members is linked to none of them: they choose each time.
      const { identity: _, ...rest } = candidates!
      return pages.complete(ctx, attempt, person.id, rest)
    },
  }
}

export type SignIn = ReturnType<typeof createSignIn>

export function createSignIn(options: SignInOptions) {
  const pages = createSignInPages(options)
  const steps = signInSteps(options, pages)
  return {
    showForm: pages.showForm,
    steps: Object.keys(steps),
    post: (ctx: StepContext, attempt: SignInAttempt, step: string, form: URLSearchParams) =>
      steps[step]!(ctx, attempt, form),
    /** The page that a form led to, reloaded or in another language, as long as the mailed code may be entered. */
    async reopen(ctx: StepContext, attempt: SignInAttempt, step: string) {
      const email = step === 'pick' || pages.isRefused(ctx) ? undefined : pages.email(ctx)
      if (!options.loginMethods.codes || email === undefined) return redirect(ctx, toForm(attempt))
      const candidates = pages.candidates(ctx, attempt)
      const isEntered =
        step === 'code' && candidates?.email !== undefined && candidates.email === comparableEmail(email)
      if (isEntered) return pages.select(ctx, attempt, candidates)
      pages.showCode(ctx, attempt, email)
    },
    ...upstreamSignIn(options, pages),
  }
}

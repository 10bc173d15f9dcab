import { isPostgresText } from '../../routers/access.ts'
import { errors } from '../../routers/errors.ts'
import type { StepContext } from '../http/state.ts'
import { requestLanguage, sendPage } from '../pages/send-page.ts'
import { fullNameOf } from './consents.ts'
import { codePage } from './pages/sign-in.ts'
import type { SignInAttempt, SignInOptions, SignInPages } from './sign-in-pages.ts'

type SignInStep = (ctx: StepContext, attempt: SignInAttempt, form: URLSearchParams) => Promise<void>

/** The forms of the sign-in pages, by the last segment of the path that they post to. */
export function signInSteps(
  { db, loginMethods, browsers }: SignInOptions,
  pages: SignInPages,
): Record<string, SignInStep> {
  return {
    async email(ctx, attempt, form) {
      if (!loginMethods.codes) throw errors.addressUnknown()
      const email = (form.get('email') ?? '').trim()
      const language = requestLanguage(ctx)
      const sender = { address: ctx.state.clientAddress ?? '', browser: browsers.idIfKnown(ctx, email) }
      const outcome = await loginMethods.codes.send(attempt.id, email, language, sender)
      if (outcome !== 'sent') return pages.showForm(ctx, attempt, outcome)
      pages.saveEmail(ctx, attempt.action, email)
      sendPage(ctx, codePage({ language, action: attempt.action, email }))
    },

    async code(ctx, attempt, form) {
      const email = pages.email(ctx)
      if (!loginMethods.codes || email === undefined) return pages.showForm(ctx, attempt, 'codeExpired')
      const outcome = await loginMethods.codes.check(attempt.id, form.get('code') ?? '')
      if (outcome === 'codeExpired') return pages.showForm(ctx, attempt, outcome)
      if (outcome === 'codeWrong') {
        const view = { language: requestLanguage(ctx), action: attempt.action, email, problem: outcome }
        return sendPage(ctx, codePage(view), 400)
      }
      const candidates = { id: attempt.id, ...outcome }
      pages.saveCandidates(ctx, attempt.action, candidates)
      return pages.select(ctx, attempt, candidates)
    },

    async pick(ctx, attempt, form) {
      const person = form.get('member') ?? ''
      if (!loginMethods.developmentLogin) throw errors.addressUnknown()
      const exists = isPostgresText(person) && (await fullNameOf(db, person)) !== null
      return exists ? pages.complete(ctx, attempt, person) : pages.showForm(ctx, attempt, 'memberUnknown')
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

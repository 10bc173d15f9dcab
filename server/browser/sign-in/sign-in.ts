import type { StepContext } from '../../http/state.ts'
import type { SignInAttempt, SignInOptions } from './pages.ts'
import { createSignInPages } from './pages.ts'
import { signInSteps } from './steps.ts'
import { upstreamSignIn } from './upstream.ts'

export type SignIn = ReturnType<typeof createSignIn>

export function createSignIn(options: SignInOptions) {
  const pages = createSignInPages(options)
  const steps = signInSteps(options, pages)
  return {
    showForm: pages.showForm,
    steps: Object.keys(steps),
    post: (ctx: StepContext, attempt: SignInAttempt, step: string, form: URLSearchParams) =>
      steps[step]!(ctx, attempt, form),
    ...upstreamSignIn(options, pages),
  }
}

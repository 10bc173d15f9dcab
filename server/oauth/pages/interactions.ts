import type { Interaction, InteractionResults } from 'oidc-provider'
import { readForm } from '../../browser/forms.ts'
import { preferLanguages } from '../../browser/language.ts'
import { Elsewhere, redirect } from '../../browser/page-responses.ts'
import type { SignInAttempt } from '../../browser/sign-in/pages.ts'
import type { StepContext } from '../../http/state.ts'
import { findApp } from '../consents/app-views.ts'
import { errors as oauthErrors } from '../engine/oidc-provider.ts'
import type { ConsentForm, ConsentRequest } from './consent-form.ts'
import type { PageOptions } from './page-options.ts'
import type { SignInRequest, SignInRequests } from './sign-in-requests.ts'

/** The pages between an app's authorization request and its response: the member signs in and allows or refuses it. */
export function interactions(
  { db, now, provider, pages }: PageOptions,
  requests: SignInRequests,
  consent: ConsentForm,
) {
  const { path, signIn, readSession } = pages
  /**
   * What to throw for a page that is over. A form of this browser was sent twice, or after a sign-in in another tab: it goes on with
   * the app's request, which asks for the consent if the member has not just given it.
   */
  const over = async (ctx: StepContext, uid: string, asks = false) => {
    const { person } = await readSession(ctx)
    const url = ctx.method === 'POST' ? requests.repeat(ctx, uid, { person, asks }) : undefined
    return url === undefined ? new oauthErrors.SessionNotFound('the interaction is over') : new Elsewhere(url)
  }
  /** For what oidc-provider throws where it does not find the interaction, or no longer. */
  const rethrow = (ctx: StepContext, uid: string, asks: boolean) => async (error: unknown) => {
    throw error instanceof oauthErrors.SessionNotFound ? await over(ctx, uid, asks) : error
  }
  /** Throws SessionNotFound if the interaction is not this browser's. */
  const open = async (ctx: StepContext, uid: string, asks = false) => {
    const details = await provider()
      .interactionDetails(ctx.req, ctx.res)
      .catch(rethrow(ctx, uid, asks))
    const session = await readSession(ctx)
    if (details.uid !== uid || details.session?.uid !== session.uid) throw await over(ctx, uid, asks)
    preferLanguages(ctx, details.params.ui_locales)
    return details
  }
  const formAction = (uid: string) => `${path}/interaction/${uid}`
  const finish = (ctx: StepContext, uid: string, result: InteractionResults, merge: boolean) =>
    provider()
      .interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: merge })
      .catch(rethrow(ctx, uid, !merge))

  const toSignInAttempt = async (
    ctx: StepContext,
    uid: string,
    { client, url }: SignInRequest,
  ): Promise<SignInAttempt> => {
    const { searchParams } = new URL(url, provider().issuer)
    preferLanguages(ctx, searchParams.get('ui_locales'))
    return {
      id: uid,
      action: formAction(uid),
      app: await findApp(db, client),
      hint: searchParams.get('login_hint'),
      async finish(accountId) {
        requests.end(ctx, { uid, person: accountId, url })
        await (await readSession(ctx)).signIn(accountId, now())
        return url
      },
    }
  }

  const toConsentRequest = ({ uid, params, session }: Interaction): ConsentRequest => {
    const { host, protocol } = new URL(String(params.redirect_uri))
    return {
      action: formAction(uid),
      person: session?.accountId,
      client: String(params.client_id),
      params,
      asker: { returnsTo: host || protocol },
    }
  }

  return {
    async get(ctx: StepContext, uid: string) {
      const request = requests.find(ctx, uid)
      if (request) return signIn.showForm(ctx, await toSignInAttempt(ctx, uid, request))
      return consent.show(ctx, toConsentRequest(await open(ctx, uid)))
    },
    async attempt(ctx: StepContext, uid: string) {
      const request = requests.find(ctx, uid)
      if (!request) throw await over(ctx, uid)
      return toSignInAttempt(ctx, uid, request)
    },
    /** Restarts the app's request with a sign-in. Until somebody signs in, nothing changes. */
    async switchAccount(ctx: StepContext, uid: string) {
      redirect(ctx, requests.signInAgain((await open(ctx, uid)).params))
    },
    async consent(ctx: StepContext, uid: string) {
      const form = await readForm(ctx)
      const decision = form.get('decision')
      const details = await open(ctx, uid, decision !== 'allow')
      const request = toConsentRequest(details)
      if (decision === 'allow') {
        const allowed = await consent.allow(ctx, request, form)
        if (!allowed) return
        return redirect(ctx, await finish(ctx, uid, { consent: { grantId: allowed.grantId } }, true))
      }
      if (decision === 'refuse') return redirect(ctx, await finish(ctx, uid, await consent.findRefusal(request), false))
      return consent.ask(ctx, request, form)
    },
  }
}

import type { Interaction, InteractionResults } from 'oidc-provider'
import { errors } from '../../routers/kernel/errors.ts'
import { isIdentityScope } from '../../routers/kernel/identity-scopes.ts'
import { readForm } from '../browser/forms.ts'
import { preferLanguages } from '../browser/language.ts'
import { fullNameOf } from '../browser/login/persons.ts'
import { lookFor } from '../browser/look.ts'
import { redirect } from '../browser/page-responses.ts'
import type { Problem } from '../browser/pages/views.ts'
import { sendPage } from '../browser/send-page.ts'
import type { SignInAttempt } from '../browser/sign-in/pages.ts'
import type { StepContext } from '../http/state.ts'
import { AUDIENCE } from '../tokens/audience.ts'
import { appOf } from './app-views.ts'
import { isFor, isSandbox, organisationKindsOf, requestedScopes } from './authorize-scopes.ts'
import { choicesFor } from './consent-choices.ts'
import { errors as oauthErrors } from './oidc-provider.ts'
import type { PageOptions } from './page-options.ts'
import { consentPage, developmentPage } from './pages/consent.ts'
import type { SignInRequest, SignInRequests } from './sign-in-requests.ts'

/** The pages between an app's authorization request and its response: the member signs in and allows or refuses it. */
export function interactions({ db, now, provider, pages }: PageOptions, requests: SignInRequests) {
  const { path, signIn, sessionOf } = pages
  /** Throws SessionNotFound if the interaction is not this browser's. */
  const open = async (ctx: StepContext, uid: string) => {
    const details = await provider().interactionDetails(ctx.req, ctx.res)
    const session = await sessionOf(ctx)
    if (details.uid !== uid || details.session?.uid !== session.uid) {
      throw new oauthErrors.SessionNotFound('the interaction of another browser')
    }
    preferLanguages(ctx, details.params.ui_locales)
    return details
  }
  const actionOf = ({ uid }: Interaction) => `${path}/interaction/${uid}`
  const finish = (ctx: StepContext, result: InteractionResults, merge: boolean) =>
    provider().interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: merge })

  const attemptOf = async (ctx: StepContext, uid: string, { client, url }: SignInRequest): Promise<SignInAttempt> => {
    const { searchParams } = new URL(url, provider().issuer)
    preferLanguages(ctx, searchParams.get('ui_locales'))
    return {
      id: uid,
      action: `${path}/interaction/${uid}`,
      app: await appOf(db, client),
      hint: searchParams.get('login_hint'),
      async finish(accountId) {
        requests.end(ctx, uid)
        await (await sessionOf(ctx)).signIn(accountId, now())
        return url
      },
    }
  }

  const consentRequest = async ({ params, session }: Interaction) => {
    if (!session) throw errors.requestInvalid()
    const clientId = String(params.client_id)
    const client = await provider().Client.find(clientId)
    const app = await appOf(db, clientId)
    const member = await fullNameOf(db, session.accountId)
    if (!client || !app || member === null) {
      throw new oauthErrors.SessionNotFound('the app or the member no longer exists')
    }
    const scopes = requestedScopes(client, params.scope)
    const kinds = organisationKindsOf(scopes)
    const person = session.accountId
    const choices = await choicesFor(db, { person, client: clientId, kinds, now: now() })
    return { clientId, app, member, person, scopes, choices, sandbox: isSandbox(client) }
  }

  const showConsent = async (ctx: StepContext, details: Interaction, problem?: Problem, picked?: string | null) => {
    const { app, member, scopes, sandbox, choices: organisations } = await consentRequest(details)
    const { host, protocol } = new URL(String(details.params.redirect_uri))
    const view = { ...lookFor(ctx), action: actionOf(details), app, returnsTo: host || protocol }
    if (!organisations) return sendPage(ctx, developmentPage(view), 403)
    const wanted = picked ?? details.params.organisation
    const chosen = organisations.length === 1 ? organisations[0] : organisations.find(({ id }) => id === wanted)
    const page = consentPage({
      ...view,
      member,
      sandbox,
      organisations: organisations.map(({ id, name }) => ({ id, name })),
      chosen: chosen?.id ?? null,
      scopes,
      ...(problem && { problem }),
    })
    sendPage(ctx, page, problem ? 400 : 200)
  }

  const allow = async (ctx: StepContext, details: Interaction, form: URLSearchParams) => {
    const { clientId, person, scopes, choices } = await consentRequest(details)
    const picked = form.get('organisation')
    const choice = choices?.find(({ id }) => id === picked)
    if (!choice) return showConsent(ctx, details, 'organisationMissing')
    const fitting = scopes.filter(isFor(choice.kind))
    const ticked = fitting.filter((scope) => scope === 'openid' || form.getAll('scope').includes(scope))
    if (ticked.length === 0) return showConsent(ctx, details, 'scopesMissing', picked)

    const grant = new (provider().Grant)({ accountId: person, clientId })
    // An access token has the scopes of the APIs and of userinfo: it works at both.
    grant.addResourceScope(AUDIENCE, ticked.join(' '))
    grant.addOIDCScope(ticked.filter(isIdentityScope))
    // Stored as refused, so that further requests do not ask again; an app may with prompt=consent.
    const unticked = fitting.filter((scope) => !ticked.includes(scope))
    if (unticked.length > 0) grant.rejectResourceScope(AUDIENCE, unticked.join(' '))
    if (unticked.some(isIdentityScope)) grant.rejectOIDCScope(unticked.filter(isIdentityScope))
    const grantId = await grant.save()
    await db.consent.create({
      data: {
        id: grantId,
        personId: choice.member,
        organisationId: choice.organisation,
        clientId,
        scopes: ticked,
        createdAt: new Date(now()),
      },
    })
    redirect(ctx, await finish(ctx, { consent: { grantId } }, true))
  }

  return {
    async get(ctx: StepContext, uid: string) {
      const request = requests.find(ctx, uid)
      if (request) return signIn.showForm(ctx, await attemptOf(ctx, uid, request))
      return showConsent(ctx, await open(ctx, uid))
    },
    async attempt(ctx: StepContext, uid: string) {
      const request = requests.find(ctx, uid)
      if (!request) throw new oauthErrors.SessionNotFound('no member is to sign in for it')
      return attemptOf(ctx, uid, request)
    },
    /** Restarts the app's request with a sign-in. Until somebody signs in, nothing changes. */
    async switchAccount(ctx: StepContext, uid: string) {
      redirect(ctx, requests.signInAgain((await open(ctx, uid)).params))
    },
    async consent(ctx: StepContext, uid: string) {
      const details = await open(ctx, uid)
      const form = await readForm(ctx)
      const decision = form.get('decision')
      if (decision === 'allow') return allow(ctx, details, form)
      if (decision !== 'refuse') throw errors.requestInvalid()
      const refusal = { error: 'access_denied', error_description: 'the member refused' }
      return redirect(ctx, await finish(ctx, refusal, false))
    },
  }
}

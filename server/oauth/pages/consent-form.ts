import { requestApproval } from '../../../routers/approvals/approvals.ts'
import { requestForChild } from '../../../routers/approvals/child-requests.ts'
import { isDocumentAddress } from '../../../routers/developer/shared/document-address.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import { isIdentityScope } from '../../../routers/kernel/identity-scopes.ts'
import { readFullName } from '../../browser/login/persons.ts'
import { pageContext } from '../../browser/page-context.ts'
import type { Problem } from '../../browser/pages/views.ts'
import { sendPage } from '../../browser/send-page.ts'
import { rememberLanguage } from '../../browser/sign-in/remembered-language.ts'
import type { StepContext } from '../../http/state.ts'
import { requestLimit } from '../../limits/limit.ts'
import { AUDIENCE } from '../../tokens/audience.ts'
import { findAskingApp } from '../consents/app-views.ts'
import { allowedScopes, isFor, isSandbox, requestedScopes } from '../consents/authorize-scopes.ts'
import { choicesFor } from '../consents/consent-choices.ts'
import type { DocumentClient } from '../consents/document-clients.ts'
import { documentView, storeDocumentClient } from '../consents/document-clients.ts'
import { hashShown } from '../consents/skipped-consent.ts'
import { storeConsent } from '../consents/store-consent.ts'
import { createGrant } from '../engine/grants.ts'
import { errors as oauthErrors } from '../engine/oidc-provider.ts'
import { hashOfToken } from '../engine/refresh-rotation.ts'
import type { PageOptions } from './page-options.ts'
import { consentPage, developmentPage } from './views/consent.ts'

/** An app's request that a member decides on. */
export interface ConsentRequest {
  action: string
  person: string | undefined
  client: string
  params: Record<string, unknown>
  /** The host or scheme of the redirect URI, or the code on a device. */
  asker: { returnsTo: string } | { device: string }
}

/** Requests to clubs and guardians per minute and member. */
const MAX_CLUB_REQUESTS = 10
/** Clients of documents that a member allows in a minute: each may be the first of its host. */
const MAX_DOCUMENTS = 10

export type ConsentForm = ReturnType<typeof consentForm>

/** The consent page, and what the member's permission creates: a grant of oidc-provider, and the consent with its id. */
export function consentForm({
  db,
  now,
  provider,
  limits,
  clubApproval,
  consentAges,
  memberMails,
}: Omit<PageOptions, 'pages'>) {
  const mayAsk = requestLimit(limits, 'club-requests', MAX_CLUB_REQUESTS)
  const mayAllow = requestLimit(limits, 'document-consents', MAX_DOCUMENTS)
  const read = async ({ client: id, person, params }: ConsentRequest) => {
    if (person === undefined) throw errors.requestInvalid()
    const client = await provider().Client.find(id)
    const document: DocumentClient | null =
      client && isDocumentAddress(id) ? { id, name: client.clientName!, scopes: allowedScopes(client) } : null
    const app = document ? documentView(id, document.name) : await findAskingApp(db, id)
    const member = await readFullName(db, person)
    if (!client || !app || member === null) {
      throw new oauthErrors.SessionNotFound('the app or the member no longer exists')
    }
    const scopes = requestedScopes(client, params.scope)
    const choices = await choicesFor(db, { person, client: id, scopes, clubApproval, consentAges, now: now() })
    return { app, member, person, scopes, choices, document, sandbox: isSandbox(client) }
  }

  const show = async (ctx: StepContext, request: ConsentRequest, problem?: Problem, picked?: string | null) => {
    const { app, member, scopes, sandbox, choices } = await read(request)
    const view = { ...pageContext(ctx), action: request.action, app, asker: request.asker }
    if (!choices) return sendPage(ctx, developmentPage(view), 403)
    const organisations = choices.open
    const wanted = picked ?? request.params.organisation
    const chosen = organisations.length === 1 ? organisations[0] : organisations.find(({ id }) => id === wanted)
    const page = consentPage({
      ...view,
      member,
      sandbox,
      shown: hashShown(app, scopes),
      organisations: organisations.map(({ id, name }) => ({ id, name })),
      closed: choices.closed,
      chosen: chosen?.id ?? null,
      scopes,
      ...(problem && { problem }),
    })
    sendPage(ctx, page, problem ? 400 : 200)
  }

  return {
    show,
    /** Null if the form lacks something: then the page is shown again. */
    async allow(ctx: StepContext, request: ConsentRequest, form: URLSearchParams) {
      const { app: asking, person, scopes, choices, sandbox, document } = await read(request)
      const clientId = request.client
      const picked = form.get('organisation')
      const choice = choices?.open.find(({ id }) => id === picked)
      if (!choice) return show(ctx, request, 'organisationMissing').then(() => null)
      const fitting = scopes.filter(isFor(choice.kind))
      const ticked = fitting.filter((scope) => scope === 'openid' || form.getAll('scope').includes(scope))
      if (ticked.length === 0) return show(ctx, request, 'scopesMissing', picked).then(() => null)

      if (document && !(await mayAllow(person))) throw errors.peopleLimited(60)
      // What a device shows is another page.
      const replaces = 'returnsTo' in request.asker
      const grant = createGrant(provider(), {
        accountId: person,
        clientId,
        scopes: ticked,
        // A page that is sent twice gives one consent; a device's second one is ended.
        ...(replaces && { jti: hashOfToken(JSON.stringify([request.action, choice.id, ...ticked])) }),
      })
      // Stored as refused, so that further requests do not ask again; an app may with prompt=consent.
      const unticked = fitting.filter((scope) => !ticked.includes(scope))
      if (unticked.length > 0) grant.rejectResourceScope(AUDIENCE, unticked.join(' '))
      if (unticked.some(isIdentityScope)) grant.rejectOIDCScope(unticked.filter(isIdentityScope))
      const grantId = await grant.save()
      const shown = hashShown(asking, scopes)
      // A team may have changed its app since the page was shown.
      const isRepeatable = replaces && !sandbox && !document && form.get('shown') === shown
      const consent = {
        id: grantId,
        personId: choice.member,
        organisationId: choice.organisation,
        clientId,
        scopes: ticked,
        createdAt: new Date(now()),
        ...(isRepeatable && { shown }),
      }
      await rememberLanguage(db, person, pageContext(ctx).w.language)
      if (!(await storeConsent(db, consent, { choice, replaces, memberMails, document }))) {
        await grant.destroy()
        return show(ctx, request, 'organisationMissing').then(() => null)
      }
      return { grantId, person, scopes: ticked }
    },

    /** The error for an app whose request was refused. It does not learn that a member is a child. */
    async findRefusal(request: ConsentRequest) {
      const { choices } = clubApproval ? await read(request) : { choices: null }
      const isClosed = choices?.open.length === 0 && choices.closed.some(({ by }) => by === 'club')
      const error_description = isClosed ? 'no club of the member has approved this app' : 'the member refused'
      return { error: 'access_denied' as const, error_description }
    },

    /** Asks a club of the member to approve the app, or those who decide for a child. */
    async ask(ctx: StepContext, request: ConsentRequest, form: URLSearchParams) {
      const club = form.get('ask')
      if (club === null || !(clubApproval || consentAges)) throw errors.requestInvalid()
      const { person, choices, document } = await read(request)
      const asked = choices?.closed.find(({ id, state }) => id === club && state === 'unasked')
      if (asked && choices?.app) {
        if (!(await mayAsk(person))) throw errors.peopleLimited(60)
        const asker = { person, language: pageContext(ctx).w.language }
        const { app } = choices
        if (document) await storeDocumentClient(db, document)
        if (asked.by === 'club') await requestApproval(db, { club, app }, now(), asker)
        else await requestForChild(db, { child: person, club, app }, asked.scopes ?? [], now(), asker)
      }
      return show(ctx, request)
    },
  }
}

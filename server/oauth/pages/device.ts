import { randomUUID } from 'node:crypto'
import type { Client } from 'oidc-provider'
import { errors } from '../../../routers/kernel/errors.ts'
import { retryAfterSeconds } from '../../../routers/kernel/time.ts'
import { endGrants } from '../../../routers/kernel/withdraw.ts'
import { readForm } from '../../browser/forms.ts'
import { preferLanguages } from '../../browser/language.ts'
import { readFullName } from '../../browser/login/persons.ts'
import { pageContext } from '../../browser/page-context.ts'
import { Elsewhere, redirect, sendMessage } from '../../browser/page-responses.ts'
import type { Session } from '../../browser/page-routes.ts'
import { sendPage } from '../../browser/send-page.ts'
import type { SignInAttempt } from '../../browser/sign-in/pages.ts'
import { toNetwork } from '../../http/client-address.ts'
import type { StepContext } from '../../http/state.ts'
import { AUDIENCE } from '../../tokens/audience.ts'
import { findApp } from '../consents/app-views.ts'
import { isSuspended } from '../consents/authorize-scopes.ts'
import type { Decision, DeviceRequest } from '../engine/device-codes.ts'
import {
  DEVICE_GRANT,
  decide,
  findDeviceCode,
  findDeviceRequest,
  parseUserCode,
  shownUserCode,
} from '../engine/device-codes.ts'
import { errors as oauthErrors } from '../engine/oidc-provider.ts'
import { routes } from '../engine/routes.ts'
import type { ConsentForm, ConsentRequest } from './consent-form.ts'
import type { PageOptions } from './page-options.ts'
import { devicePage } from './views/device.ts'

/**
 * Wrong codes per minute and network. In a code's 10 minutes these are 100 of 25,600,000,000; and a code that is guessed only
 * gives a device access to the guesser's own data.
 */
export const MAX_WRONG_CODES = 10

/** The pages of a code that was entered, below the issuer's path. */
export const REQUEST = `${routes.code_verification}/request`

const ENTERED = 'member_device'

/** The code that was entered; the session is that of the consent page. */
interface Entered {
  id: string
  code: string
  session?: string
  /** A member has signed in for it, and has not switched the account since. */
  signedIn?: boolean
  /** The decision has been shown: further forms are refused, and a reload shows it again. */
  isShown?: boolean
}

type Found = NonNullable<Awaited<ReturnType<typeof findDeviceCode>>>

interface Opened {
  entered: Entered
  request: DeviceRequest
}

/**
 * The pages for a device's code (RFC 8628, 3.3). oidc-provider's own store their form's secret in the session, before anybody has
 * signed in; so these replace them, and store nothing before the member decides.
 */
export function devicePages({ db, now, realm, provider, pages, limits }: PageOptions, consent: ConsentForm) {
  const { path, signIn, cookies, readSession } = pages
  const wrongCodes = limits.open('device-codes', MAX_WRONG_CODES, 60)
  const address = `${path}${routes.code_verification}`
  const formAction = (uid: string) => `${path}${REQUEST}/${uid}`

  const showForm = (ctx: StepContext, code: string, isWrong = false) => {
    const view = { ...pageContext(ctx), action: address, code }
    sendPage(ctx, devicePage({ ...view, ...(isWrong && { problem: 'deviceCodeWrong' }) }), isWrong ? 400 : 200)
  }

  const over = () => new oauthErrors.SessionNotFound('the code has expired or was used')
  const findCode = (code: string) => findDeviceCode(db, code, { now: now(), realm })

  /** Throws SessionNotFound unless the code was entered in this browser and has not expired. */
  const find = async (ctx: StepContext, uid: string) => {
    const entered = cookies.get<Entered>(ctx, ENTERED)
    if (entered?.id !== uid) throw new oauthErrors.SessionNotFound('the code was not entered in this browser')
    const found = await findCode(entered.code)
    if (!found) throw over()
    preferLanguages(ctx, found.request.params.ui_locales)
    return { entered, ...found }
  }
  /** Throws SessionNotFound for a code that was decided on, too. */
  const open = async (ctx: StepContext, uid: string): Promise<Opened> => {
    const { decided, ...opened } = await find(ctx, uid)
    if (decided) throw over()
    return opened
  }

  const remember = (ctx: StepContext, entered: Entered) => cookies.set(ctx, ENTERED, formAction(entered.id), entered)
  const toSignInAttempt = async (uid: string, { entered, request }: Opened, ctx: StepContext) =>
    ({
      id: uid,
      action: formAction(uid),
      app: await findApp(db, request.client),
      hint: typeof request.params.login_hint === 'string' ? request.params.login_hint : null,
      async finish(person) {
        remember(ctx, { ...entered, signedIn: true })
        await (await readSession(ctx)).signIn(person, now())
        return formAction(uid)
      },
    }) satisfies SignInAttempt

  const findMember = async ({ person }: Session) =>
    person !== undefined && (await readFullName(db, person)) !== null ? person : undefined

  const tell = (ctx: StepContext, entered: Entered, decision: Decision) => {
    remember(ctx, { ...entered, isShown: true })
    if ('accountId' in decision) return sendMessage(ctx, 'deviceAllowed', 200)
    if (decision.error === 'access_denied') return sendMessage(ctx, 'deviceRefused', 200)
    return sendMessage(ctx, 'requestWrong', 400, decision.errorDescription)
  }
  /** For a form that was sent twice, or a reload. Throws SessionNotFound for a code that was decided on elsewhere. */
  const repeat = (ctx: StepContext, entered: Entered, decided: Found['decided'] | undefined) => {
    if (decided?.page !== entered.id) throw over()
    return tell(ctx, entered, decided)
  }
  const finish = async (ctx: StepContext, entered: Entered, decision: Decision) => {
    const { id: page, code } = entered
    if (await decide(db, code, { ...decision, page }, now())) return tell(ctx, entered, decision)
    if ('grantId' in decision) await endGrants(db, [decision.grantId], now())
    return repeat(ctx, entered, (await findCode(code))?.decided)
  }

  return {
    /** The code may be in the address (verification_uri_complete); the member still compares and sends it. */
    async form(ctx: StepContext) {
      const code = parseUserCode(new URLSearchParams(ctx.state.search).get('user_code') ?? '')
      showForm(ctx, code === null ? '' : shownUserCode(code))
    },

    async enter(ctx: StepContext) {
      const network = toNetwork(ctx.state.clientAddress ?? '')
      const { passes, msBeforeNext } = await wrongCodes.take(network)
      if (!passes) throw errors.peopleLimited(retryAfterSeconds(msBeforeNext))
      const typed = (await readForm(ctx)).get('user_code') ?? ''
      const code = parseUserCode(typed)
      if (code === null || !(await findDeviceRequest(db, code, { now: now(), realm })))
        return showForm(ctx, printable(typed), true)
      wrongCodes.giveBack(network)
      const id = randomUUID()
      remember(ctx, { id, code })
      redirect(ctx, formAction(id))
    },

    async get(ctx: StepContext, uid: string) {
      const { decided, ...opened } = await find(ctx, uid)
      if (decided) return repeat(ctx, opened.entered, decided)
      const session = await readSession(ctx)
      const person = await findMember(session)
      if (person === undefined) return signIn.showForm(ctx, await toSignInAttempt(uid, opened, ctx))
      remember(ctx, { ...opened.entered, session: session.uid })
      return consent.show(ctx, toConsentRequest(uid, person, opened))
    },

    async attempt(ctx: StepContext, uid: string) {
      const opened = await open(ctx, uid)
      // A form that was sent twice.
      const isOver = ctx.method === 'POST' && opened.entered.signedIn
      if (isOver && (await findMember(await readSession(ctx)))) throw new Elsewhere(formAction(uid))
      return toSignInAttempt(uid, opened, ctx)
    },

    async switchAccount(ctx: StepContext, uid: string) {
      const opened = await open(ctx, uid)
      remember(ctx, { ...opened.entered, signedIn: false })
      return signIn.showForm(ctx, await toSignInAttempt(uid, opened, ctx))
    },

    async consent(ctx: StepContext, uid: string) {
      const { decided, ...opened } = await find(ctx, uid)
      const { entered } = opened
      if (entered.isShown) throw over()
      if (decided) return repeat(ctx, entered, decided)
      const form = await readForm(ctx)
      const session = await readSession(ctx)
      const person = await findMember(session)
      // Somebody else has signed in since the page was shown.
      if (person === undefined || entered.session !== session.uid) return redirect(ctx, formAction(uid))
      const decision = form.get('decision')
      const request = toConsentRequest(uid, person, opened)
      if (decision === 'refuse') {
        const { error, error_description } = await consent.findRefusal(request)
        return finish(ctx, entered, { error, errorDescription: error_description })
      }
      if (decision !== 'allow') return consent.ask(ctx, request, form)
      const lost = explainLoss(await provider().Client.find(opened.request.client))
      if (lost) return finish(ctx, entered, { error: 'unauthorized_client', errorDescription: lost })
      const allowed = await consent.allow(ctx, request, form)
      if (!allowed) return
      return finish(ctx, entered, {
        accountId: allowed.person,
        authTime: session.since,
        grantId: allowed.grantId,
        scope: allowed.scopes.join(' '),
        resource: AUDIENCE,
      })
    },
  }

  function toConsentRequest(uid: string, person: string, { entered, request }: Opened) {
    const asker = { device: shownUserCode(entered.code) }
    return { action: formAction(uid), person, ...request, asker } satisfies ConsentRequest
  }
}

/** Why a client may not sign in on devices any more. */
function explainLoss(client: Client | undefined) {
  if (client && isSuspended(client)) return 'this app is suspended'
  return client?.grantTypeAllowed(DEVICE_GRANT) === false ? 'this client no longer signs in on devices' : undefined
}

/** A wrong code is shown again, as far as it is readable. */
const printable = (typed: string) => typed.replace(/[^\x20-\x7e]/g, '').slice(0, 20)

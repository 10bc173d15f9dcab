import { CARD } from '../../browser/addresses.ts'
import { redirect } from '../../browser/page-responses.ts'
import type { StepContext } from '../../http/state.ts'
import { routes } from '../engine/metadata.ts'
import { cardPages } from './cards.ts'
import { clubApps } from './club-apps.ts'
import { connectedApps } from './connected-apps.ts'
import { consentForm } from './consent-form.ts'
import { devicePages, REQUEST } from './device.ts'
import { endSession } from './end-session.ts'
import { familyApps } from './family-apps.ts'
import { interactions } from './interactions.ts'
import { memberCalendar } from './member-calendar.ts'
import type { PageOptions } from './page-options.ts'
import type { SignInRequests } from './sign-in-requests.ts'

type Decisions = ReturnType<typeof clubApps> | ReturnType<typeof familyApps>

/** `basePath` is the path of AUTH_BASE_URL. */
export function addPageRoutes(options: PageOptions, requests: SignInRequests, basePath: string) {
  const { path, page, signInAt } = options.pages
  const consent = consentForm(options)
  const interaction = interactions(options, requests, consent)
  const connected = connectedApps(options)
  const calendar = memberCalendar(options)
  const end = endSession(options)
  const device = devicePages(options, consent)
  const cards = cardPages(options)
  const readUid = (ctx: StepContext) => String((ctx as { params?: { uid?: string } }).params?.uid)

  page('get', '/interaction/:uid', (ctx) => interaction.get(ctx, readUid(ctx)))
  page('post', '/interaction/:uid/consent', (ctx) => interaction.consent(ctx, readUid(ctx)))
  page('get', '/interaction/:uid/switch', (ctx) => interaction.switchAccount(ctx, readUid(ctx)))
  page('get', '/connected', (ctx) => connected.get(ctx))
  page('get', '/connected/remove', (ctx) => connected.remove(ctx))
  page('post', '/connected/withdraw', (ctx) => connected.withdraw(ctx))
  page('post', '/connected/data', (ctx) => connected.requestData(ctx))
  page('post', '/connected/sign-out', (ctx) => connected.signOut(ctx))

  page('get', '/calendar', (ctx) => calendar.get(ctx))
  page('post', '/calendar/create', (ctx) => calendar.create(ctx))
  page('post', '/calendar/remove', (ctx) => calendar.remove(ctx))
  page('get', '/card', (ctx) => cards.own(ctx))
  page('get', `${CARD}:uid`, (ctx) => cards.check(ctx, readUid(ctx)), basePath)

  page('get', routes.code_verification, (ctx) => device.form(ctx))
  page('post', routes.code_verification, (ctx) => device.enter(ctx))
  page('get', `${REQUEST}/:uid`, (ctx) => device.get(ctx, readUid(ctx)))
  page('post', `${REQUEST}/:uid/consent`, (ctx) => device.consent(ctx, readUid(ctx)))
  page('get', `${REQUEST}/:uid/switch`, (ctx) => device.switchAccount(ctx, readUid(ctx)))

  page('get', routes.end_session, (ctx) => end.get(ctx))
  page('post', `${routes.end_session}/confirm`, (ctx) => end.confirm(ctx))

  // The address that a form led to, reopened.
  page('get', '/interaction/:uid/consent', async (ctx) => redirect(ctx, `${path}/interaction/${readUid(ctx)}`))
  page('get', `${REQUEST}/:uid/consent`, async (ctx) => redirect(ctx, `${path}${REQUEST}/${readUid(ctx)}`))
  for (const [above, step] of [
    ['/connected', 'withdraw'],
    ['/connected', 'data'],
    ['/connected', 'sign-out'],
    ['/calendar', 'create'],
    ['/calendar', 'remove'],
    [routes.end_session, 'confirm'],
  ] as const) {
    page('get', `${above}/${step}`, async (ctx) => redirect(ctx, `${path}${above}`))
  }

  const { clubApproval, consentAges } = options
  if (clubApproval || consentAges) addDecisionRoutes(options, '/club', clubApps(options))
  if (consentAges) addDecisionRoutes(options, '/family', familyApps({ ...options, consentAges }))

  signInAt('/interaction/:uid', (ctx) => interaction.attempt(ctx, readUid(ctx)))
  signInAt(`${REQUEST}/:uid`, (ctx) => device.attempt(ctx, readUid(ctx)))
  signInAt('/card', async (ctx) => cards.attempt(ctx))
  signInAt('/connected', async (ctx) => connected.attempt(ctx))
  signInAt('/calendar', async (ctx) => calendar.attempt(ctx))
}

/** Those on which somebody decides about the apps of others. */
function addDecisionRoutes({ pages: { path, page, signInAt } }: PageOptions, at: string, decisions: Decisions) {
  page('get', at, (ctx) => decisions.get(ctx))
  page('get', `${at}/remove`, (ctx) => decisions.remove(ctx))
  page('post', `${at}/approve`, (ctx) => decisions.approve(ctx))
  page('post', `${at}/refuse`, (ctx) => decisions.refuse(ctx))
  page('post', `${at}/withdraw`, (ctx) => decisions.withdraw(ctx))
  page('post', `${at}/sign-out`, (ctx) => decisions.signOut(ctx))
  for (const step of ['approve', 'refuse', 'withdraw', 'sign-out']) {
    page('get', `${at}/${step}`, async (ctx) => redirect(ctx, `${path}${at}`))
  }
  signInAt(at, async (ctx) => decisions.attempt(ctx))
}

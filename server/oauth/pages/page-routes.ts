import { redirect } from '../../browser/page-responses.ts'
import type { StepContext } from '../../http/state.ts'
import { routes } from '../engine/routes.ts'
import { addCardPages } from './cards.ts'
import { addClubApps } from './club-apps.ts'
import { addConnectedApps } from './connected-apps.ts'
import { consentForm } from './consent-form.ts'
import { devicePages, REQUEST } from './device.ts'
import { endSession } from './end-session.ts'
import { addFamilyApps } from './family-apps.ts'
import { interactions } from './interactions.ts'
import { addMemberCalendar } from './member-calendar.ts'
import type { PageOptions } from './page-options.ts'
import type { SignInRequests } from './sign-in-requests.ts'

/** `basePath` is the path of AUTH_BASE_URL. */
export function addPageRoutes(options: PageOptions, requests: SignInRequests, basePath: string) {
  const { path, page, signInAt } = options.pages
  const consent = consentForm(options)
  const interaction = interactions(options, requests, consent)
  const end = endSession(options)
  const device = devicePages(options, consent)
  const readUid = (ctx: StepContext) => String((ctx as { params?: { uid?: string } }).params?.uid)

  page('get', '/interaction/:uid', (ctx) => interaction.get(ctx, readUid(ctx)))
  page('post', '/interaction/:uid/consent', (ctx) => interaction.consent(ctx, readUid(ctx)))
  page('get', '/interaction/:uid/switch', (ctx) => interaction.switchAccount(ctx, readUid(ctx)))
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
  page('get', `${routes.end_session}/confirm`, async (ctx) => redirect(ctx, `${path}${routes.end_session}`))

  signInAt('/interaction/:uid', (ctx) => interaction.attempt(ctx, readUid(ctx)))
  signInAt(`${REQUEST}/:uid`, (ctx) => device.attempt(ctx, readUid(ctx)))

  addConnectedApps(options)
  addMemberCalendar(options)
  addCardPages(options, basePath)
  const { clubApproval, consentAges } = options
  if (clubApproval || consentAges) addClubApps(options)
  if (consentAges) addFamilyApps({ ...options, consentAges })
}

import { readFileSync } from 'node:fs'
import { startMailsIn } from '../../routers/developer/mails/procedures.ts'
import type { Core } from '../../routers/kernel/context.ts'
import { failureOf } from '../../routers/kernel/database-errors.ts'
import { ApiError, errors } from '../../routers/kernel/errors.ts'
import { isUpload, readForm, readUpload } from '../browser/forms.ts'
import { requestLanguage } from '../browser/language.ts'
import { fullNameOf } from '../browser/login/persons.ts'
import { redirect } from '../browser/page-responses.ts'
import type { PageRoutes } from '../browser/page-routes.ts'
import { allowScripts, sendPage, sendScript, sendStyleSheet } from '../browser/send-page.ts'
import type { PeopleLimit } from '../http/people-limit.ts'
import type { StepContext } from '../http/state.ts'
import type { Addresses } from './addresses.ts'
import { appPages } from './apps.ts'
import { auditPages } from './audit.ts'
import { developerFor } from './client.ts'
import { clientPages } from './clients.ts'
import { clubPages } from './clubs.ts'
import { dataPages } from './data.ts'
import { deletionPages } from './deletions.ts'
import { deliveryPages } from './deliveries.ts'
import { invitationPages } from './invitations.ts'
import { mailPages } from './mails.ts'
import { words } from './pages/layout.ts'
import { missingPage } from './pages/missing.ts'
import { problemsOf } from './pages/refusals.ts'
import { peoplePages } from './people.ts'
import { requestPages } from './requests.ts'
import { rulePages } from './rules.ts'
import { portalSignIn } from './sign-in.ts'
import { teamPages } from './teams.ts'
import { testClubPages } from './test-club.ts'
import { usagePages } from './usage.ts'
import type { Act, Result, Routes, Show, Visit } from './visit.ts'
import { webhookPages } from './webhook.ts'

/** The build copies the files. */
const [styleSheet, script] = ['portal.css', 'script.js'].map((name) =>
  readFileSync(new URL(name, import.meta.url), 'utf8'),
)

interface Options {
  core: Core
  addresses: Addresses
  countPeople: PeopleLimit
  /** Whether this service has a mail server. */
  sendsMails: boolean
  /** Clubs approve apps. */
  clubApproval: boolean
}

export function addPortal(parts: PageRoutes, { core, addresses, countPeople, sendsMails, clubApproval }: Options) {
  const { page, signInAt, sessionOf, reserve } = parts
  const {
    root,
    attempt,
    show: showSignIn,
    ask,
    isRecent,
    takeForm,
  } = portalSignIn(parts, {
    now: core.now,
    signedIn: (person, language) => startMailsIn(core.db, person, language),
  })
  const forms = new Map<string, { show: Show; act: Act }>()

  const visitOf = async (ctx: StepContext): Promise<(Visit & { since: number | undefined }) | undefined> => {
    const { person: id, since } = await sessionOf(ctx)
    const name = id === undefined ? null : await fullNameOf(core.db, id)
    if (id === undefined || name === null) return undefined
    const language = requestLanguage(ctx)
    return {
      ctx,
      since,
      developer: developerFor(core, id, (of, whose) => countPeople(of, whose, ctx.res)),
      person: { id, name },
      language,
      w: words[language],
      params: (ctx as { params?: Record<string, string> }).params ?? {},
      query: new URLSearchParams(ctx.state.search),
      at: (...segments) => [root, ...segments.map(encodeURIComponent)].join('/'),
    }
  }

  const send = async (visit: Visit, show: Show, status = 200) => {
    try {
      sendPage(visit.ctx, await show(visit), status)
      allowScripts(visit.ctx)
    } catch (thrown) {
      const error = refusalOf(thrown)
      if (error.status === 403 || error.status === 404) return sendPage(visit.ctx, missingPage(visit), error.status)
      throw error
    }
  }

  const execute = async (
    visit: Visit,
    { route, show, form, act }: { route: string; show: Show; form: URLSearchParams; act: () => Promise<Result> },
  ) => {
    try {
      const result = await act()
      if (typeof result === 'string') return redirect(visit.ctx, result)
      await send(visit, async () => result.page)
    } catch (thrown) {
      const error = refusalOf(thrown)
      if (error.status >= 500) throw error
      if (error.status === 404) return sendPage(visit.ctx, missingPage(visit), 404)
      visit.ctx.set(error.headers)
      await send(
        { ...visit, refused: { action: actionOf(route), problems: problemsOf(error, visit.language), form } },
        show,
        error.status,
      )
    }
  }

  const get: Routes['get'] = (address, show) =>
    page('get', `/developers${address}`, async (ctx) => {
      const visit = await visitOf(ctx)
      return visit ? send(visit, show) : ask(ctx, here(ctx))
    })
  const post: Routes['post'] = (route, show, act) => {
    forms.set(route, { show, act })
    page('post', `/developers${route}`, async (ctx) => {
      const form = await readForm(ctx)
      const visit = await visitOf(ctx)
      if (!visit) return ask(ctx, root)
      if (isRecent(visit.since)) return execute(visit, { route, show, form, act: () => act(visit, form) })
      const kept = { person: visit.person.id, route, params: visit.params, body: form.toString() }
      if (kept.body.length <= MAX_KEPT) return ask(ctx, root, kept)
      const problems = [{ text: visit.w.signInFirst(visit.at('sign-in')) }]
      await send({ ...visit, refused: { action: actionOf(route), problems, form } }, show, 403)
    })
    addReload(route)
  }
  const upload: Routes['upload'] = (route, show, act) => {
    page('post', `/developers${route}`, async (ctx) => {
      if (!isUpload(ctx)) throw errors.typeWrong()
      const visit = await visitOf(ctx)
      if (!visit) return ask(ctx, root)
      if (!isRecent(visit.since)) return ask(ctx, `${pageOf(ctx)}?done=again`)
      const read = (tooLarge: () => ApiError) =>
        readUpload(ctx, tooLarge, (bytes) => reserve(ctx, `person ${visit.person.id}`, bytes))
      await execute(visit, { route, show, form: new URLSearchParams(), act: () => act(visit, read) })
    })
    addReload(route)
  }
  /** Reloading a refused form's page returns to the form. */
  const addReload = (route: string) => page('get', `/developers${route}`, async (ctx) => redirect(ctx, pageOf(ctx)))

  page('get', '/developers/sign-in', showSignIn)
  signInAt('/developers/sign-in', attempt)
  page('get', '/developers/continue', async (ctx) => {
    const visit = await visitOf(ctx)
    const kept = visit && isRecent(visit.since) ? takeForm(ctx, visit.person.id) : undefined
    const known = kept && forms.get(kept.route)
    if (!known) return redirect(ctx, root)
    const again = { ...visit!, params: kept.params }
    const form = new URLSearchParams(kept.body)
    await execute(again, { route: kept.route, show: known.show, form, act: () => known.act(again, form) })
  })
  page('post', '/developers/sign-out', async (ctx) => {
    await (await sessionOf(ctx)).signOut()
    redirect(ctx, root)
  })
  page('get', '/developers/style.css', async (ctx) => sendStyleSheet(ctx, styleSheet!))
  page('get', '/developers/script.js', async (ctx) => sendScript(ctx, script!))
  const routes = { get, post, upload }
  teamPages(routes)
  testClubPages(routes)
  invitationPages(routes)
  peoplePages(routes, sendsMails)
  mailPages(routes, sendsMails)
  appPages(routes, addresses, clubApproval)
  if (clubApproval) clubPages(routes)
  dataPages(routes)
  rulePages(routes)
  clientPages(routes, addresses, core.now)
  webhookPages(routes)
  deliveryPages(routes, core.now)
  usagePages(routes, core.now)
  requestPages(routes, addresses)
  auditPages(routes)
  deletionPages(routes)
}

/** Characters of a form that awaits a sign-in: cookies are part of a request's head, which is limited to 16 KiB. */
const MAX_KEPT = 5_000

const actionOf = (route: string) => route.split('/').at(-1)!

const pageOf = ({ state }: StepContext) => state.path.replace(/\/[^/]*$/, '')

const here = ({ state: { path, search } }: StepContext) => path + (search && `?${search}`)

/** A 401 for the portal's own client is a fault of the service, so it becomes a 503. */
function refusalOf(thrown: unknown) {
  const error = thrown instanceof ApiError ? thrown : failureOf(thrown)
  return error.status === 401 ? errors.unavailable(error) : error
}

import { startMailsIn } from '../../routers/developer/mails/procedures.ts'
import type { Core } from '../../routers/kernel/context.ts'
import { toFailure } from '../../routers/kernel/database-errors.ts'
import { ApiError, errors } from '../../routers/kernel/errors.ts'
import { isUpload, readForm, readUpload } from '../browser/forms.ts'
import { portalLanguage } from '../browser/language.ts'
import { redirect } from '../browser/page-responses.ts'
import type { PageRoutes } from '../browser/page-routes.ts'
import { allowScripts, sendPage, sendScript, sendStyleSheet } from '../browser/send-page.ts'
import type { PeopleLimit } from '../http/people-limit.ts'
import type { StepContext } from '../http/state.ts'
import type { Addresses } from './addresses.ts'
import { appPages, clubPages } from './apps.ts'
import { script, styleSheet } from './assets.ts'
import { developerFor } from './client.ts'
import { clientPages } from './clients.ts'
import { dataPages, rulePages } from './data.ts'
import { deletionPages } from './deletions.ts'
import { deliveryPages } from './deliveries.ts'
import { eventAddressPages } from './event-addresses.ts'
import { firstCallPages } from './first-call.ts'
import type { Form } from './forms/form.ts'
import { MAX_FORM_BYTES } from './forms/form-size.ts'
import { invitationPages } from './invitations.ts'
import { mailPages } from './mails.ts'
import type { PageRequest, Render, Result, Routes } from './page-request.ts'
import { missingPage, words } from './pages/layout.ts'
import { toProblems } from './pages/refusals.ts'
import { peoplePages } from './people.ts'
import { readPerson } from './person.ts'
import { requestPages } from './requests.ts'
import { portalSignIn } from './sign-in.ts'
import { auditPages, teamPages } from './teams.ts'
import { testClubPages } from './test-club.ts'
import { usagePages } from './usage.ts'
import { webhookPages } from './webhook.ts'

interface Options {
  core: Core
  addresses: Addresses
  countPeople: PeopleLimit
  /** Whether this service has a mail server. */
  sendsMails: boolean
  /** Clubs approve apps. */
  clubApproval: boolean
}

/** A form's routes: the page that shows it, also after a refusal, and what it does. */
interface Posted {
  /** The address of that page. */
  above: string
  render: Render
  form: Pick<Form<object>, 'action' | 'fieldAtFault'>
  submit: (request: PageRequest, typed: URLSearchParams) => Promise<Result>
}

export function addPortal(parts: PageRoutes, { core, addresses, countPeople, sendsMails, clubApproval }: Options) {
  const { page, signInAt, readSession, reserve } = parts
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
  const forms = new Map<string, Posted>()

  const at: PageRequest['at'] = (...segments) => [root, ...segments.map(encodeURIComponent)].join('/')
  const findOwn = (address: string, params: PageRequest['params']) =>
    at(
      ...address
        .split('/')
        .slice(1)
        .map((part) => (part.startsWith(':') ? params[part.slice(1)]! : part)),
    )

  /** `address` is that of the page, with names of parameters. */
  const readRequest = async (
    ctx: StepContext,
    address: string,
  ): Promise<(PageRequest & { since: number | undefined }) | undefined> => {
    const { person: id, since } = await readSession(ctx)
    const person = id === undefined ? undefined : await readPerson(core.db, id)
    if (!person) return undefined
    const language = portalLanguage(ctx)
    const params = (ctx as { params?: Record<string, string> }).params ?? {}
    return {
      ctx,
      since,
      developer: developerFor(core, person.id, (of, whose) => countPeople(of, whose, ctx.res)),
      person,
      language,
      now: core.now() / 1_000,
      w: words[language],
      params,
      query: new URLSearchParams(ctx.state.search),
      own: findOwn(address, params),
      at,
    }
  }

  const send = async (request: PageRequest, render: Render, status = 200) => {
    try {
      sendPage(request.ctx, await render(request), status)
      allowScripts(request.ctx)
    } catch (thrown) {
      const error = toRefusal(thrown)
      if (error.status === 403 || error.status === 404) return sendPage(request.ctx, missingPage(request), error.status)
      throw error
    }
  }

  const execute = async (
    request: PageRequest,
    { render, form }: Pick<Posted, 'render' | 'form'>,
    typed: URLSearchParams,
    submit: () => Promise<Result>,
  ) => {
    try {
      const result = await submit()
      if (typeof result === 'string') return redirect(request.ctx, result)
      await send(request, async () => result.page)
    } catch (thrown) {
      const error = toRefusal(thrown)
      if (error.status >= 500) throw error
      if (error.status === 404) return sendPage(request.ctx, missingPage(request), 404)
      request.ctx.set(error.headers)
      const problems = toProblems(error, form, request.language)
      if (error.id === 'changedMeanwhile') problems.push({ text: request.w.openAgain(request.own) })
      await send({ ...request, refused: { action: form.action, problems, typed } }, render, error.status)
    }
  }

  const get: Routes['get'] = (address, render) =>
    page('get', `/developers${address}`, async (ctx) => {
      const request = await readRequest(ctx, address)
      return request ? send(request, render) : ask(ctx, here(ctx))
    })
  const post: Routes['post'] = (above, render, form, submit) => {
    const route = `${above}/${form.action}`
    const posted: Posted = { above, render, form, submit: async (request, typed) => submit(request, form.read(typed)) }
    forms.set(route, posted)
    page('post', `/developers${route}`, async (ctx) => {
      const request = await readRequest(ctx, above)
      if (!request) return ask(ctx, root)
      const hold = (bytes: number) => reserve(ctx, `person ${request.person.id}`, bytes, 'parsed')
      const typed = await readForm(ctx, { bytes: MAX_FORM_BYTES, reserve: hold })
      if (isRecent(request.since)) return execute(request, posted, typed, () => posted.submit(request, typed))
      const kept = { person: request.person.id, route, params: request.params, body: typed.toString() }
      if (kept.body.length <= MAX_KEPT) return ask(ctx, root, kept)
      const problems = [{ text: request.w.signInFirst(request.at('sign-in')) }]
      await send({ ...request, refused: { action: form.action, problems, typed } }, render, 403)
    })
    addReload(route)
  }
  const upload: Routes['upload'] = (above, render, form, submit) => {
    const route = `${above}/${form.action}`
    page('post', `/developers${route}`, async (ctx) => {
      if (!isUpload(ctx)) throw errors.typeWrong()
      const request = await readRequest(ctx, above)
      if (!request) return ask(ctx, root)
      if (!isRecent(request.since)) return ask(ctx, `${parentPath(ctx)}?done=again`)
      const read = async (tooLarge: () => ApiError) =>
        form.read(
          await readUpload(ctx, tooLarge, (bytes) => reserve(ctx, `person ${request.person.id}`, bytes, 'text')),
        )
      await execute(request, { render, form }, new URLSearchParams(), () => submit(request, read))
    })
    addReload(route)
  }
  /** Reloading a refused form's page returns to the form. */
  const addReload = (route: string) => page('get', `/developers${route}`, async (ctx) => redirect(ctx, parentPath(ctx)))

  page('get', '/developers/sign-in', showSignIn)
  signInAt('/developers/sign-in', attempt)
  page('get', '/developers/continue', async (ctx) => {
    const request = await readRequest(ctx, '')
    const kept = request && isRecent(request.since) ? takeForm(ctx, request.person.id) : undefined
    const known = kept && forms.get(kept.route)
    if (!known) return redirect(ctx, root)
    const again = { ...request!, params: kept.params, own: findOwn(known.above, kept.params) }
    const typed = new URLSearchParams(kept.body)
    await execute(again, known, typed, () => known.submit(again, typed))
  })
  page('post', '/developers/sign-out', async (ctx) => {
    await (await readSession(ctx)).signOut()
    redirect(ctx, root)
  })
  page('get', '/developers/style.css', async (ctx) => sendStyleSheet(ctx, styleSheet))
  page('get', '/developers/script.js', async (ctx) => sendScript(ctx, script))
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
  firstCallPages(routes, addresses)
  webhookPages(routes)
  eventAddressPages(routes)
  deliveryPages(routes, core.now)
  usagePages(routes, core.now)
  requestPages(routes, addresses)
  auditPages(routes)
  deletionPages(routes)
}

/** Characters of a form that awaits a sign-in: cookies are part of a request's head, which is limited to 16 KiB. */
const MAX_KEPT = 5_000

const parentPath = ({ state }: StepContext) => state.path.replace(/\/[^/]*$/, '')

const here = ({ state: { path, search } }: StepContext) => path + (search && `?${search}`)

/** A 401 for the portal's own client is a fault of the service, so it becomes a 503. */
function toRefusal(thrown: unknown) {
  const error = thrown instanceof ApiError ? thrown : toFailure(thrown)
  return error.status === 401 ? errors.unavailable(error) : error
}

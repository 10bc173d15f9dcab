import type Router from '@koa/router'
import type { Holder, MemoryBudget } from '../http/memory-budget.ts'
import { reserveUntilSent } from '../http/memory-lease.ts'
import type { State, StepContext } from '../http/state.ts'
import type { Limits } from '../limits/limit.ts'
import { styleSheet } from '../pages/style-sheet.ts'
import { browserSession } from './browser-session.ts'
import type { Browsers } from './browsers.ts'
import { connectedApps } from './connected-apps.ts'
import type { EncryptedCookies } from './encrypted-cookies.ts'
import { readForm } from './forms.ts'
import { interactions } from './interactions.ts'
import type { LoginMethods } from './login-methods.ts'
import type { PageOptions } from './page-options.ts'
import { pageErrors, redirect } from './page-responses.ts'
import { addPictures } from './pictures.ts'
import type { SignIn } from './sign-in.ts'
import { createSignIn } from './sign-in.ts'
import type { SignInAttempt } from './sign-in-pages.ts'
import type { SignInRequests } from './sign-in-requests.ts'

interface Options extends Omit<PageOptions, 'path'> {
  issuer: string
  loginMethods: LoginMethods
  cookies: EncryptedCookies
  browsers: Browsers
  requests: SignInRequests
  /** The redirect URI of the upstream provider. */
  callback: string
  limits: Limits
  memory: MemoryBudget
  /** For a request to a page. */
  requestMs: number
  /** Adds the pages of another room. */
  morePages?: MorePages | undefined
}

type Respond = (ctx: StepContext) => Promise<unknown>

/** What pages of another room share with these: session, sign-in, cookies, errors. Addresses are below the issuer's path. */
export interface PageParts {
  path: string
  signIn: SignIn
  cookies: EncryptedCookies
  sessionOf: (ctx: StepContext) => ReturnType<typeof browserSession>
  page: (method: 'get' | 'post', address: string, respond: Respond) => void
  /** Reserves memory for the body of a request until its response is sent. Throws 503. */
  reserve: (ctx: StepContext, holder: Holder, bytes: number) => Promise<void>
  /** Adds the steps of a sign-in whose page is at the address. */
  signInAt: (address: string, attempt: (ctx: StepContext) => Promise<SignInAttempt>) => void
}

export type MorePages = (parts: PageParts) => void

/** The pages for members: signing in, consent, connected apps. */
export function addPageRoutes(
  router: Router<State>,
  {
    issuer,
    loginMethods,
    cookies,
    browsers,
    requests,
    callback,
    requestMs,
    morePages,
    limits,
    memory,
    ...rest
  }: Options,
) {
  const { origin, pathname: path } = new URL(issuer)
  const options = { ...rest, path }
  const signIn = createSignIn({ ...rest, loginMethods, cookies, browsers, callbackPath: new URL(callback).pathname })
  const interaction = interactions(options, signIn, requests)
  const connected = connectedApps(options, signIn, cookies)

  const errorPages = pageErrors(origin, requestMs)
  const page: PageParts['page'] = (method, address, respond) => {
    router[method](`${path}${address}`, errorPages, (ctx) => respond(ctx))
  }
  const uidOf = (ctx: StepContext) => String((ctx as { params?: { uid?: string } }).params?.uid)

  page('get', '/interaction/:uid', (ctx) => interaction.get(ctx, uidOf(ctx)))
  page('post', '/interaction/:uid/consent', (ctx) => interaction.consent(ctx, uidOf(ctx)))
  page('get', '/interaction/:uid/switch', (ctx) => interaction.switchAccount(ctx, uidOf(ctx)))
  page('get', '/connected', (ctx) => connected.get(ctx))
  page('get', '/connected/remove', (ctx) => connected.remove(ctx))
  page('post', '/connected/withdraw', (ctx) => connected.withdraw(ctx))
  page('post', '/connected/sign-out', (ctx) => connected.signOut(ctx))

  // The address that a form led to, opened again.
  page('get', '/interaction/:uid/consent', async (ctx) => redirect(ctx, `${path}/interaction/${uidOf(ctx)}`))
  for (const step of ['withdraw', 'sign-out']) {
    page('get', `/connected/${step}`, async (ctx) => redirect(ctx, `${path}/connected`))
  }

  const signInAt: PageParts['signInAt'] = (address, attempt) => {
    page('get', `${address}/upstream`, async (ctx) => signIn.startUpstream(ctx, await attempt(ctx)))
    page('get', `${address}/person`, async (ctx) => signIn.finishUpstream(ctx, await attempt(ctx)))
    for (const step of signIn.steps) {
      page('post', `${address}/${step}`, async (ctx) => signIn.post(ctx, await attempt(ctx), step, await readForm(ctx)))
      // Reloading the page that a form led to returns to the form.
      if (step !== 'person') {
        page('get', `${address}/${step}`, async (ctx) => redirect(ctx, (await attempt(ctx)).action))
      }
    }
  }
  signInAt('/interaction/:uid', (ctx) => interaction.attempt(ctx, uidOf(ctx)))
  signInAt('/connected', async (ctx) => connected.attempt(ctx))
  page('get', '/upstream', (ctx) => signIn.callback(ctx, new URL(`${callback}?${ctx.state.search}`)))

  const sessionOf = (ctx: StepContext) => browserSession(options.provider(), ctx.req, ctx.res)
  const reserve: PageParts['reserve'] = (ctx, holder, bytes) => reserveUntilSent(memory, ctx.res, holder, bytes)
  morePages?.({ path, signIn, cookies, sessionOf, page, reserve, signInAt })

  router.get(`${path}/style.css`, (ctx) => {
    ctx.set('Cache-Control', 'public, max-age=3600')
    ctx.type = 'text/css; charset=utf-8'
    ctx.body = styleSheet
  })
  addPictures(router, { ...options, limits })
}

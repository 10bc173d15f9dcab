import type Router from '@koa/router'
import type { State, StepContext } from '../http/state.ts'
import { styleSheet } from '../pages/style-sheet.ts'
import type { Browsers } from './browsers.ts'
import { connectedApps } from './connected-apps.ts'
import type { EncryptedCookies } from './encrypted-cookies.ts'
import { readForm } from './forms.ts'
import { interactions } from './interactions.ts'
import type { LoginMethods } from './login-methods.ts'
import type { PageOptions } from './page-options.ts'
import { pageErrors, redirect } from './page-responses.ts'
import { createSignIn } from './sign-in.ts'
import type { SignInRequests } from './sign-in-requests.ts'

interface Options extends Omit<PageOptions, 'path'> {
  issuer: string
  loginMethods: LoginMethods
  cookies: EncryptedCookies
  browsers: Browsers
  requests: SignInRequests
  /** The redirect URI of the upstream provider. */
  callback: string
}

/** The pages for members: signing in, consent, connected apps. */
export function addPageRoutes(
  router: Router<State>,
  { issuer, loginMethods, cookies, browsers, requests, callback, ...rest }: Options,
) {
  const { origin, pathname: path } = new URL(issuer)
  const options = { ...rest, path }
  const signIn = createSignIn({ ...rest, loginMethods, cookies, browsers, callbackPath: new URL(callback).pathname })
  const interaction = interactions(options, signIn, requests)
  const connected = connectedApps(options, signIn, cookies)

  const errorPages = pageErrors(origin)
  const page = (method: 'get' | 'post', address: string, respond: (ctx: StepContext) => Promise<unknown>) =>
    router[method](`${path}${address}`, errorPages, (ctx) => respond(ctx))
  const uidOf = (ctx: StepContext) => String((ctx as { params?: { uid?: string } }).params?.uid)

  page('get', '/interaction/:uid', (ctx) => interaction.get(ctx, uidOf(ctx)))
  page('post', '/interaction/:uid/consent', (ctx) => interaction.consent(ctx, uidOf(ctx)))
  page('get', '/connected', (ctx) => connected.get(ctx))
  page('post', '/connected/withdraw', (ctx) => connected.withdraw(ctx))
  page('post', '/connected/sign-out', (ctx) => connected.signOut(ctx))

  const attempts = [
    ['/interaction/:uid', (ctx: StepContext) => interaction.attempt(ctx, uidOf(ctx))],
    ['/connected', async (ctx: StepContext) => connected.attempt(ctx)],
  ] as const
  for (const [address, attempt] of attempts) {
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
  page('get', '/upstream', (ctx) => signIn.callback(ctx, new URL(`${callback}?${ctx.state.search}`)))

  router.get(`${path}/style.css`, (ctx) => {
    ctx.set('Cache-Control', 'public, max-age=3600')
    ctx.type = 'text/css; charset=utf-8'
    ctx.body = styleSheet
  })
}

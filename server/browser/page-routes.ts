import type Router from '@koa/router'
import type { Database } from '../../prisma/client.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { Holder, MemoryBudget, Use } from '../http/memory-budget.ts'
import { reserveUntilSent } from '../http/memory-lease.ts'
import type { State, StepContext } from '../http/state.ts'
import type { Limits } from '../limits/limit.ts'
import { upstreamCallback } from './addresses.ts'
import type { EncryptedCookies } from './encrypted-cookies.ts'
import { createSeal, encryptedCookies } from './encrypted-cookies.ts'
import { readForm } from './forms.ts'
import { createBrowsers } from './known-browsers.ts'
import { chooseLanguage } from './language.ts'
import type { LoginMethods } from './login/methods.ts'
import { lookAt, sendLook } from './look/serve.ts'
import { pageErrors, redirect } from './page-responses.ts'
import { styleSheet } from './pages/style-sheet.ts'
import { addPictures } from './pictures.ts'
import { sendStyleSheet } from './send-page.ts'
import type { SignInAttempt } from './sign-in/pages.ts'
import type { SignIn } from './sign-in/sign-in.ts'
import { createSignIn } from './sign-in/sign-in.ts'

export interface Session {
  person: string | undefined
  uid: string
  /** The time of the sign-in, in Unix seconds. */
  since: number | undefined
  /** `at` is Unix time in milliseconds. */
  signIn: (person: string, at: number) => Promise<void>
  signOut: () => Promise<void>
}

interface Options {
  db: Database
  now: () => number
  cipher: Cipher
  issuer: string
  loginMethods: LoginMethods
  readSession: PageRoutes['readSession']
  limits: Limits
  memory: MemoryBudget
  requestMs: number
}

/** The parts that all pages for people share. Addresses are below `path`, the issuer's path, or `above`. */
export interface PageRoutes {
  path: string
  signIn: SignIn
  cookies: EncryptedCookies
  readSession: (ctx: StepContext) => Promise<Session>
  page: (
    method: 'get' | 'post',
    address: string,
    respond: (ctx: StepContext) => Promise<unknown>,
    above?: string,
  ) => void
  /** Reserves memory for a request's body until its response is sent. Throws 503. */
  reserve: (ctx: StepContext, holder: Holder, bytes: number, use: Use) => Promise<void>
  signInAt: (address: string, attempt: (ctx: StepContext) => Promise<SignInAttempt>) => void
}

export function createPageRoutes(
  router: Router<State>,
  { db, now, cipher, issuer, loginMethods, readSession, limits, memory, requestMs }: Options,
): PageRoutes {
  const { origin, pathname: path, protocol } = new URL(issuer)
  const secure = protocol === 'https:'
  const seal = createSeal(cipher, now)
  const browsers = createBrowsers(seal, secure)
  const cookies = encryptedCookies({ seal, secure, readBrowserId: browsers.ensureId })
  const callback = upstreamCallback(issuer)
  const signIn = createSignIn({ db, now, loginMethods, cookies, browsers, callbackPath: new URL(callback).pathname })

  const errorPages = pageErrors(origin, requestMs)
  const page: PageRoutes['page'] = (method, address, respond, above = path) => {
    router[method](`${above}${address}`, errorPages, (ctx) => respond(ctx))
  }
  page('get', '/upstream', (ctx) => signIn.callback(ctx, new URL(`${callback}?${ctx.state.search}`)))
  page('post', '/language', async (ctx) => {
    const form = await readForm(ctx)
    if (!chooseLanguage(ctx, form.get('language'), secure)) throw errors.requestInvalid()
    // The pages have `Referrer-Policy: same-origin`.
    const page = ctx.get('referer')
    redirect(ctx, page.startsWith(`${origin}/`) ? page : `${path}/connected`)
  })
  router.get(`${path}/style.css`, (ctx) => sendStyleSheet(ctx, styleSheet))
  for (const place of ['fonts', 'theme']) {
    router.get(`${path}/${place}/:name`, (ctx) => {
      const file = lookAt(ctx.state.path, path)
      if (!file) throw errors.addressUnknown()
      sendLook(ctx, file)
    })
  }
  addPictures(router, { db, path, limits })

  return {
    path,
    signIn,
    cookies,
    readSession,
    page,
    reserve: (ctx, holder, bytes, use) => reserveUntilSent(memory, ctx.res, holder, bytes, use),
    signInAt(address, attempt) {
      page('get', `${address}/upstream`, async (ctx) => signIn.startUpstream(ctx, await attempt(ctx)))
      page('get', `${address}/person`, async (ctx) => signIn.finishUpstream(ctx, await attempt(ctx)))
      for (const step of signIn.steps) {
        page('post', `${address}/${step}`, async (ctx) =>
          signIn.post(ctx, await attempt(ctx), step, await readForm(ctx)),
        )
        if (step !== 'person') {
          page('get', `${address}/${step}`, async (ctx) => signIn.reopen(ctx, await attempt(ctx), step))
        }
      }
    },
  }
}

import { hkdfSync } from 'node:crypto'
import { METHODS } from 'node:http'
import Router from '@koa/router'
import type { Database } from '../../prisma/client.ts'
import type { Cipher } from '../../routers/cipher.ts'
import { errors } from '../../routers/errors.ts'
import { preflightHeaders } from '../http/cors.ts'
import { nameOf } from '../http/match-route.ts'
import { routed } from '../http/routed.ts'
import { JSON_TYPE } from '../http/send.ts'
import type { State, Step, StepContext } from '../http/state.ts'
import { connected } from './connected.ts'
import { interactions } from './interactions.ts'
import type { SigningKeys } from './keys.ts'
import { goTo, pages, readForm } from './page-answers.ts'
import { pageHeaders, styleSheet } from './pages/pages.ts'
import { metadataOf, routes } from './provider.ts'
import { providers } from './providers.ts'
import { sealedCookies } from './sealed-cookies.ts'
import type { LoginMethods } from './sign-in.ts'
import { signIn } from './sign-in.ts'

export interface MountParts {
  db: Database
  now: () => number
  cipher: Cipher
  /** The first one signs and seals, all of them are believed. */
  secretsKeys: readonly Buffer[]
  keys: SigningKeys
  authBaseUrl: string
  appsBaseUrl: string
  ways: LoginMethods
}

export const issuerOf = (authBaseUrl: string) => `${authBaseUrl}/oauth`

/** Where an outside sign-in sends browsers back to, as it is registered there. */
export const returnAddressOf = (authBaseUrl: string) => `${issuerOf(authBaseUrl)}/upstream`

const cookieKeyOf = (secretsKey: Buffer) =>
  Buffer.from(hkdfSync('sha256', secretsKey, '', 'oauth cookies', 32)).toString('base64url')

/** RFC 8414, 3: the metadata of an issuer with a path is asked for with the path behind. */
const METADATA = '/.well-known/oauth-authorization-server'

/**
 * The authorization server, at the host of AUTH_BASE_URL: what browsers are shown, and what apps call. Tokens are also
 * given out at the apps host, as the documents have it. Requests for anything else go on.
 */
export function mountOauth({ db, now, cipher, secretsKeys, keys, authBaseUrl, appsBaseUrl, ways }: MountParts): Step {
  const issuer = issuerOf(authBaseUrl)
  const { origin, host, protocol, pathname: path } = new URL(issuer)
  const secure = protocol === 'https:'
  const cookieKeys = secretsKeys.map(cookieKeyOf)
  const { provider, answer } = providers({ db, now, issuer, cookieKeys, secure, keys })

  const cookies = sealedCookies(cipher, secure, now)
  const returned = returnAddressOf(authBaseUrl)
  const returnPath = new URL(returned).pathname
  const signing = signIn({ db, now, ways, cookies, returnPath })
  const asked = interactions({ db, now, provider, path }, signing)
  const allowed = connected({ db, now, provider, path }, signing, cookies)

  const router = new Router<State>({ sensitive: true, strict: true, methods: METHODS })
  const page = pages(origin)
  const at = (method: 'get' | 'post', address: string, work: (ctx: StepContext) => Promise<unknown>) =>
    router[method](`${path}${address}`, page as never, ((ctx: StepContext) => work(ctx)) as never)
  const uidOf = (ctx: StepContext) => String((ctx as { params?: { uid?: string } }).params?.uid)

  at('get', '/interaction/:uid', (ctx) => asked.get(ctx, uidOf(ctx)))
  at('post', '/interaction/:uid/consent', (ctx) => asked.consent(ctx, uidOf(ctx)))
  at('get', '/connected', (ctx) => allowed.get(ctx))
  at('post', '/connected/withdraw', (ctx) => allowed.withdraw(ctx))
  at('post', '/connected/sign-out', (ctx) => allowed.signOut(ctx))
  const attempts = [
    ['/interaction/:uid', (ctx: StepContext) => asked.attempt(ctx, uidOf(ctx))],
    ['/connected', async (ctx: StepContext) => allowed.attempt(ctx)],
  ] as const
  for (const [address, attempt] of attempts) {
    at('get', `${address}/upstream`, async (ctx) => signing.leave(ctx, await attempt(ctx)))
    at('get', `${address}/person`, async (ctx) => signing.arrive(ctx, await attempt(ctx)))
    for (const step of signing.steps) {
      at('post', `${address}/${step}`, async (ctx) => signing.post(ctx, await attempt(ctx), step, await readForm(ctx)))
      // A page that was left and is loaded again: where the form was.
      if (step !== 'person') at('get', `${address}/${step}`, async (ctx) => goTo(ctx, (await attempt(ctx)).action))
    }
  }
  at('get', '/upstream', (ctx) => signing.comeBack(ctx, new URL(`${returned}?${ctx.state.search}`)))

  /** Of browsers: not for pages of another origin to read. */
  const browse = (ctx: StepContext) => {
    ctx.remove('Access-Control-Allow-Origin')
    ctx.remove('Access-Control-Expose-Headers')
    ctx.set(pageHeaders)
    // Codes go back in the query alone: the other modes need a script in a page of ours, or one of the app's.
    const query = new URLSearchParams(ctx.state.search)
    if ((query.get('response_mode') ?? 'query') !== 'query') {
      query.set('response_mode', 'unsupported')
      ctx.state.search = query.toString()
    }
    return answer(ctx, ctx.state.path.slice(path.length))
  }
  router.get([`${path}${routes.authorization}`, `${path}${routes.authorization}/:uid`], browse as never)

  /** Of apps, in browsers too: of any origin, as there are no cookies in it. Its errors are JSON, whatever is accepted. */
  const call = (ctx: StepContext) => {
    ctx.req.headers.accept = 'application/json'
    return answer(ctx, ctx.state.path.slice(path.length))
  }
  const endpoint = (method: 'get' | 'post', addresses: string[], work: (ctx: StepContext) => unknown) => {
    router[method](addresses, work as never)
    router.options(addresses, ((ctx: StepContext) => {
      ctx.set(preflightHeaders(method === 'get' ? 'GET, HEAD' : 'POST'))
      ctx.status = 204
    }) as never)
  }
  endpoint('post', [`${path}${routes.token}`, `${path}${routes.revocation}`], call)
  endpoint('get', [`${path}${routes.jwks}`], call)
  const metadata = JSON.stringify(metadataOf(issuer))
  endpoint('get', [`${path}${METADATA}`, `${METADATA}${path}`], (ctx) => {
    ctx.type = JSON_TYPE
    ctx.body = metadata
  })
  router.get(`${path}/style.css`, ((ctx: StepContext) => {
    ctx.set('Cache-Control', 'public, max-age=3600')
    ctx.type = 'text/css; charset=utf-8'
    ctx.body = styleSheet
  }) as never)

  const step = routed(router)
  const [own, apps] = [nameOf(host), nameOf(new URL(appsBaseUrl).host)]
  return (ctx, next) => {
    const { path: wanted } = ctx.state
    if (!wanted.startsWith(`${path}/`) && wanted !== `${METADATA}${path}`) return next()
    const here = nameOf(ctx.state.host)
    if (here !== own && !(here === apps && wanted === `${path}${routes.token}`)) throw errors.hostWrong(host)
    // It makes addresses of these, and the issuer says what they are; no header that a client sends does.
    const { headers } = ctx.req
    headers.host = host
    headers['x-forwarded-proto'] = protocol.slice(0, -1)
    delete headers['x-forwarded-host']
    delete headers['x-forwarded-for']
    return step(ctx, next)
  }
}

import {
  AuthorizationResponseError,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  validateAuthResponse,
} from 'oauth4webapi'
import { answerIn } from './answer.ts'
import type { TokenSet } from './authorization-server.ts'
import { authorizationServer, needForTokens, SignInFailed } from './authorization-server.ts'
import type { Begun } from './begun.ts'
import { begin, begunWith, end } from './begun.ts'
import { SignInNeeded } from './errors.ts'
import { inOneTab } from './one-tab.ts'
import { page } from './page.ts'
import { need, PlatformLacks } from './platform.ts'
import type { TokenStore } from './token-store.ts'
import { sharedStore } from './token-store.ts'

const running = new WeakMap<object, Map<string, Promise<unknown>>>()

/**
 * Runs work that is begun twice at once a single time, for all its callers: two clicks, two effects of React's StrictMode, two
 * objects for one client with the same store.
 */
function atOnce<Result>(store: object, name: string, work: () => Promise<Result>): Promise<Result> {
  const runningInStore = running.get(store) ?? new Map<string, Promise<unknown>>()
  running.set(store, runningInStore)
  const begun = runningInStore.get(name) as Promise<Result> | undefined
  if (begun) return begun
  const run = work().finally(() => runningInStore.delete(name))
  runningInStore.set(name, run)
  return run
}

export interface SignInOptions {
  /** The authorization server's issuer, as `https://auth.example.org/v1/oauth`. */
  issuer: string
  clientId: string
  /** Exactly as registered. */
  redirectUri: string
  /** Separated by spaces. The member may allow fewer. */
  scope: string
  /**
   * Stores the tokens: by default IndexedDB, so that all tabs are signed in together. With `sessionStorage` each tab signs in
   * separately until it is closed.
   */
  store?: TokenStore
  /** Separates several sign-ins of one client, as in a member's clubs. By default the `clientId`. */
  name?: string
}

export interface BrowserSignIn {
  /** For `createClient({ tokens })`: the access token, renewed when it was refused. Throws `SignInNeeded`. */
  tokens(refused?: string): Promise<string>
  isSignedIn(): Promise<boolean>
  /** The scopes that the member allowed. */
  scopes(): Promise<string[]>
  /** Redirects the page to the sign-in. `more` are additional parameters, as `{ organisation }` or `{ prompt: 'consent' }`. */
  signIn(more?: Record<string, string>): Promise<void>
  /**
   * Completes a sign-in: call it at each load of the redirect page. Returns undefined when the page's address contains no answer,
   * else the address where the sign-in began. Throws `SignInFailed`.
   */
  finish(): Promise<string | undefined>
  /** Deletes the tokens, then revokes them, so that copies are useless too: this ends the consent of this sign-in. */
  signOut(): Promise<void>
  /** Deletes the tokens here and keeps the consent, for an app that goes on to the issuer's `end_session_endpoint`. */
  forget(): Promise<void>
}

/** Signs members in with OAuth 2.0 and PKCE, by redirecting the whole page. */
export function browserSignIn({
  issuer,
  clientId,
  redirectUri,
  scope,
  store = sharedStore,
  name: ownName = clientId,
}: SignInOptions): BrowserSignIn {
  const server = authorizationServer(issuer, clientId)
  const name = `member-apps ${ownName}`
  const own = { issuer, clientId, name, redirectUri }
  const read = async (): Promise<TokenSet | null> => JSON.parse((await store.getItem(name)) ?? 'null')
  /** A former version of the SDK began without `name` and `redirectUri`. */
  const isOwn = (begun: Partial<Begun>) =>
    Object.entries(own).every(([field, text]) => (begun[field as keyof Begun] ?? text) === text)
  const write = (tokens: TokenSet) => store.setItem(name, JSON.stringify(tokens))

  /** A refresh token works once: the second caller takes the tokens of the first. */
  const renew = (refused: string) =>
    inOneTab(name, async () => {
      const held = await read()
      if (!held) throw signInNeeded()
      if (held.access_token !== refused) return held.access_token
      if (!held.refresh_token) throw signInNeeded()
      try {
        const renewed = await server.renew(held.refresh_token)
        // Not if another tab has taken the lock, and its tokens are newer. A store that cannot be read now has the former ones.
        const now = await read().catch(() => held)
        if (now?.refresh_token === held.refresh_token) await write({ scope: held.scope ?? scope, ...renewed })
        return renewed.access_token
      } catch (error) {
        if (!(error instanceof SignInFailed) || error.code !== 'invalid_grant') throw error
        const other = await read()
        if (other && other.refresh_token !== held.refresh_token) return other.access_token
        try {
          await store.removeItem(name)
        } catch {}
        throw signInNeeded()
      }
    })

  return {
    async tokens(refused) {
      const held = await read()
      if (!held) throw signInNeeded()
      return held.access_token === refused ? renew(refused) : held.access_token
    },
    isSignedIn: async () => (await read()) !== null,
    scopes: async () => ((await read())?.scope ?? '').split(' ').filter(Boolean),

    signIn: (more = {}) =>
      atOnce(store, `${name} sign-in ${redirectUri} ${scope} ${JSON.stringify(more)}`, async () => {
        needForSignIn()
        const { authorization_endpoint } = await server.metadata()
        const [state, verifier] = [generateRandomState(), generateRandomCodeVerifier()]
        const url = new URL(authorization_endpoint!)
        const query = {
          response_type: 'code',
          client_id: clientId,
          redirect_uri: redirectUri,
          scope,
          state,
          code_challenge: await calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...more,
        }
        for (const [field, text] of Object.entries(query)) url.searchParams.set(field, text)
        begin({ ...own, state, verifier, from: page.location!.href })
        page.location!.assign(url.href)
      }),

    finish: () =>
      atOnce(store, `${name} finish ${redirectUri}`, async () => {
        const answer = page.location && answerIn(page.location.href, issuer)
        const begun = answer && begunWith(answer.state)
        if (!answer || (begun && !isOwn(begun))) return undefined
        needForTokens()
        end(answer.state)
        hide(answer.without)
        const accepted = accept(
          await server.metadata(),
          server.client,
          new URLSearchParams(answer.parameters),
          begun?.state,
        )
        const tokens = await server.exchange(accepted, redirectUri, begun!.verifier)
        await write({ scope, ...tokens })
        return begun!.from
      }),

    signOut: () =>
      inOneTab(name, async () => {
        const held = await read()
        try {
          await store.removeItem(name)
        } finally {
          if (held?.refresh_token) await server.revoke(held.refresh_token)
        }
      }),

    forget: () => inOneTab(name, async () => store.removeItem(name)),
  }
}

/** Before the page is left: what the way back needs as well. */
function needForSignIn() {
  need('Sign-in', 'location', 'crypto.subtle.digest', 'crypto.getRandomValues', 'btoa')
  needForTokens()
}

/** A reload is not to send the code again. A page that may not change its address loses nothing else. */
function hide(address: string) {
  try {
    page.history.replaceState(null, '', address)
  } catch {}
}

const signInNeeded = () => new SignInNeeded({ status: 401, message: 'Sign in first: nobody is signed in here.' })

/** Returns the answer if it belongs to this tab's request (`state`) and comes from the server that was asked (`iss`). */
function accept(...[server, client, answer, state]: Parameters<typeof validateAuthResponse>) {
  try {
    if (!state) throw new Error('This tab has begun no sign-in.')
    return validateAuthResponse(server, client, answer, state)
  } catch (error) {
    if (error instanceof AuthorizationResponseError) {
      throw new SignInFailed(error.error, error.error_description ?? error.error, error)
    }
    throw new SignInFailed('not_begun_here', 'This sign-in was not begun here.', error)
  }
}

export type { TokenStore }
export { PlatformLacks, SignInFailed, SignInNeeded }

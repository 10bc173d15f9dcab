import type { Interaction } from 'oidc-provider'
import type { CookieContext, EncryptedCookies } from '../../browser/encrypted-cookies.ts'
import { routes } from '../engine/routes.ts'

const [REQUEST, REPEAT] = ['member_request', 'member_repeat']

export interface SignInRequest {
  client: string
  url: string
}

/** The request of a page that a member has seen, or has signed in on. */
interface Shown {
  uid: string
  person: string
  url: string
}

export type SignInRequests = ReturnType<typeof createSignInRequests>

/**
 * Authorization requests of browsers in which nobody is signed in. The browser stores them: the database stores nothing before
 * somebody signs in. After that the app's request is repeated with a new session. The browser stores later requests as well: a
 * form that is sent twice, or after a sign-in in another tab, repeats its request too.
 */
export function createSignInRequests(cookies: EncryptedCookies, path: string) {
  const authorization = (query: URLSearchParams) => `${path}${routes.authorization}?${query}`
  const toPageUrl = (uid: string) => `${path}/interaction/${uid}`
  const keep = (ctx: CookieContext, shown: Shown) => cookies.set(ctx, REPEAT, toPageUrl(shown.uid), shown)
  return {
    /** Stores the request in the browser, and returns its page's path. */
    begin(
      ctx: CookieContext,
      { uid, prompt, params, session }: Pick<Interaction, 'uid' | 'prompt' | 'params' | 'session'>,
    ) {
      if (prompt.name === 'login') {
        const url = authorization(withoutLogin(params))
        cookies.set(ctx, REQUEST, toPageUrl(uid), { uid, client: String(params.client_id), url })
      } else if (session) keep(ctx, { uid, person: session.accountId, url: authorization(toQuery(params)) })
      return toPageUrl(uid)
    },
    find(ctx: CookieContext, uid: string): SignInRequest | undefined {
      const request = cookies.get<SignInRequest & { uid: string }>(ctx, REQUEST)
      return request?.uid === uid ? request : undefined
    },
    /** The request with a sign-in, even if somebody is signed in. */
    signInAgain(params: Interaction['params']) {
      const query = withoutLogin(params)
      query.set('prompt', ['login', ...query.getAll('prompt')].join(' '))
      return authorization(query)
    },
    /** Its member has signed in. */
    end(ctx: CookieContext, shown: Shown) {
      cookies.clear(ctx, REQUEST, toPageUrl(shown.uid))
      keep(ctx, shown)
    },
    /**
     * The URL that repeats an expired page's request; undefined in another browser. It asks for consent again where `asks`, or where
     * another person is signed in now.
     */
    repeat(ctx: CookieContext, uid: string, { person, asks }: { person: string | undefined; asks: boolean }) {
      const shown = cookies.get<Shown>(ctx, REPEAT)
      if (shown?.uid !== uid) return undefined
      if (!asks && (person === undefined || person === shown.person)) return shown.url
      const query = new URLSearchParams(shown.url.slice(shown.url.indexOf('?')))
      query.set('prompt', 'consent')
      return authorization(query)
    },
  }
}

/** The parameters without those that ask for the sign-in that has just happened, as a query. */
function withoutLogin({ prompt, max_age: _age, id_token_hint: _hint, ...params }: Interaction['params']) {
  const others = String(prompt ?? '')
    .split(' ')
    .filter((one) => one !== 'login' && one !== '')
  return toQuery({ ...params, prompt: others.join(' ') || undefined })
}

/** Without the resource, of which there is one: the query is no longer than the app's was. */
function toQuery({ resource: _resource, ...params }: Interaction['params']): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    for (const one of [value].flat()) if (typeof one === 'string') query.append(name, one)
  }
  return query
}

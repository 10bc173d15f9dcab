import type { Interaction } from 'oidc-provider'
import type { CookieContext, EncryptedCookies } from '../../browser/encrypted-cookies.ts'
import { routes } from '../engine/routes.ts'

const REQUEST = 'member_request'

export interface SignInRequest {
  client: string
  url: string
}

export type SignInRequests = ReturnType<typeof createSignInRequests>

/**
 * Authorization requests of browsers in which nobody is signed in. The browser stores them: the database stores nothing before
 * somebody signs in. After that the app's request is repeated with a new session.
 */
export function createSignInRequests(cookies: EncryptedCookies, path: string) {
  const authorization = (query: URLSearchParams) => `${path}${routes.authorization}?${query}`
  const toPageUrl = (uid: string) => `${path}/interaction/${uid}`
  return {
    /** Stores the request if its member has to sign in, and returns its page's path. */
    begin(ctx: CookieContext, { uid, prompt, params }: Pick<Interaction, 'uid' | 'prompt' | 'params'>) {
      if (prompt.name === 'login') {
        const url = authorization(withoutLogin(params))
        cookies.set(ctx, REQUEST, toPageUrl(uid), { uid, client: String(params.client_id), url })
      }
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
    end: (ctx: CookieContext, uid: string) => cookies.clear(ctx, REQUEST, toPageUrl(uid)),
  }
}

/**
 * The parameters as a query, without those that ask for the sign-in that has just happened, and without the resource, of which
 * there is one: the query is no longer than the app's was.
 */
function withoutLogin({
  prompt,
  resource: _resource,
  max_age: _age,
  id_token_hint: _hint,
  ...params
}: Interaction['params']): URLSearchParams {
  const others = String(prompt ?? '')
    .split(' ')
    .filter((one) => one !== 'login' && one !== '')
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...params, prompt: others.join(' ') || undefined })) {
    for (const one of [value].flat()) if (typeof one === 'string') query.append(name, one)
  }
  return query
}

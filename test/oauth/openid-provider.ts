import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JWK } from 'jose'
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose'
import Provider from 'oidc-provider'
import { vi } from 'vitest'

export const REDIRECT_URI = 'http://auth.test/v1/oauth/upstream'
export const CLIENT_ID = 'member-apps'
export const CLIENT_SECRET = 'a secret of the tests, long enough'

interface Account {
  email?: string
  email_verified?: unknown
}

interface Options {
  clientAuth?: 'client_secret_basic' | 'client_secret_post' | 'none'
  /** By default they are at the userinfo endpoint, as specified for this flow. */
  claimsInIdToken?: boolean
}

/** A real OpenID provider on loopback, with accounts that the test chooses. */
export async function startProvider({ clientAuth = 'client_secret_basic', claimsInIdToken = false }: Options = {}) {
  let answer: RequestListener = (_request, response) => response.destroy()
  const server = createServer((request, response) => answer(request, response))
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(0)
  const { port } = server.address() as AddressInfo
  const issuer = `http://127.0.0.1:${port}`
  const accounts = new Map<string, Account>()
  const requests: string[] = []
  let publishedKeys: JWK[] | null = null
  let isUnnamed = false
  let endless = ''
  const signingKey = await anyKey()

  // It warns that its in-memory storage and pages are for development only.
  const warnings = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        ...(clientAuth !== 'none' && { client_secret: CLIENT_SECRET }),
        token_endpoint_auth_method: clientAuth,
        redirect_uris: [REDIRECT_URI],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    clientAuthMethods: [clientAuth],
    jwks: { keys: [signingKey] },
    cookies: { keys: ['a key of the tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: !claimsInIdToken,
    ttl: { IdToken: 60 },
    features: { devInteractions: { enabled: true } },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub, ...accounts.get(sub) }) }),
  })
  const callback = provider.callback()
  warnings.mockRestore()
  answer = (request, response) => {
    requests.push(request.url!.split('?')[0]!)
    if (request.url === endless) sendEndlessly(response)
    else if (request.url === '/jwks' && publishedKeys) response.end(JSON.stringify({ keys: publishedKeys }))
    else {
      if (request.url === '/token' && isUnnamed) signWithoutName(response, signingKey)
      void callback(request, response)
    }
  }

  return {
    issuer,
    accounts,
    requests,
    /** From now on the tokens name no key, and this provider has several that fit. */
    async publishUnnamedKeys() {
      isUnnamed = true
      const keys = [await anyKey(), signingKey, await anyKey()]
      publishedKeys = keys.map(({ d: _private, kid: _name, ...key }) => key)
    },
    /** From now on the published key is not the one that signs. */
    async publishAnotherKey() {
      const { d: _private, ...key } = await anyKey()
      publishedKeys = [key]
    },
    /** From now on the answer at this path does not end. */
    answerEndlessly(path: string) {
      endless = path
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
    comeBack: () => listen(port),
  }
}

function sendEndlessly(response: ServerResponse) {
  response.writeHead(200, { 'content-type': 'application/json' })
  const send = () => {
    while (!response.destroyed && response.write(' '.repeat(65_536)));
  }
  response.on('drain', send)
  send()
}

/** Signs the ID token of a response again, without a `kid`. */
function signWithoutName(response: ServerResponse, key: JWK) {
  const end = response.end.bind(response) as (body: string) => ServerResponse
  response.end = ((body: string) => {
    const tokens = JSON.parse(body)
    const signed = new SignJWT(decodeJwt(tokens.id_token)).setProtectedHeader({ alg: 'ES256' }).sign(key)
    void signed.then((id_token) => {
      const changed = JSON.stringify({ ...tokens, id_token })
      response.setHeader('Content-Length', Buffer.byteLength(changed))
      end(changed)
    })
    return response
  }) as ServerResponse['end']
}

async function anyKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  return { ...(await exportJWK(privateKey)), kid: 'key', alg: 'ES256', use: 'sig' }
}

/** A user who signs in as `login` and agrees to everything; returns the URL redirected to. */
export async function browse(start: string, login: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = start
  let form: URLSearchParams | null = null
  for (let step = 0; step < 15; step++) {
    const response: Response = await fetch(url, {
      redirect: 'manual',
      method: form ? 'POST' : 'GET',
      body: form,
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      cookies.set(name!, value!)
    }
    const page = await response.text()
    const location = response.headers.get('location')
    form = null
    if (location) {
      url = new URL(location, url).href
      if (url.startsWith(REDIRECT_URI)) return new URL(url)
      continue
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1]
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1]
    if (!prompt || !action) throw new Error(`No form at ${url}: ${response.status} ${page.slice(0, 500)}`)
    url = new URL(action, url).href
    form = new URLSearchParams({ prompt, login, password: 'any' })
  }
  throw new Error('The browser never came back')
}

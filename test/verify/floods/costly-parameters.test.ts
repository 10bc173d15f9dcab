import { describe, it } from 'vitest'
import { redirectUri, register } from '../../oauth/auth-world.ts'
import { deviceGrant } from '../../oauth/device-world.ts'
import { mintAppServer } from '../../support/app-server.ts'
import { sampleCalls } from '../../support/sample-calls.ts'
import { started } from '../../support/started.ts'
import { startWorld } from '../../support/world.ts'
import type { Input } from './costly-inputs.ts'
import { asPath, encoded, expectCheap, IN_BODY, IN_HEAD, noLimits, withParameter } from './costly-inputs.ts'
import { jsonShapes, repeated, shapes } from './costly-shapes.ts'

const one = started(
  async () => {
    const world = await startWorld({
      auth: {},
      limits: noLimits,
      clubApproval: true,
      consentAges: new Map([['', 16]]),
      onLog: () => {},
    })
    const { ids } = world
    const organisations = { apps: ids.club, lms: ids.academy, notify: ids.provider, sync: ids.club }
    const tokens = Object.fromEntries(
      await Promise.all(
        Object.entries(organisations).map(async ([section, organisation]) => [
          section,
          await world.token({ organisation }),
        ]),
      ),
    ) as Record<keyof typeof organisations, string>
    const ofApp = await world.token((await mintAppServer(world)).claims)
    const client = await register(world, { scopes: ['openid', 'svc.me.profile:read'] })
    const calls = sampleCalls({ id: ids.app })
    return { world, tokens, ofApp, client, calls, port: world.publicPort, internalPort: world.internalPort }
  },
  ({ world }) => world.close(),
)

const OAUTH = `
  client_id redirect_uri response_type response_mode scope state nonce code_challenge code_challenge_method prompt
  max_age ui_locales login_hint id_token_hint acr_values claims claims_locales resource request request_uri
  registration display audience client_assertion client_assertion_type client_secret grant_type code code_verifier
  refresh_token device_code dpop_jkt authorization_details unknown
`
  .trim()
  .split(/\s+/)

/** Longer queries of an authorization are refused unread. */
const IN_AUTHORIZATION = 3_700

const authorization = () => ({
  client_id: one.client,
  response_type: 'code',
  redirect_uri: redirectUri,
  code_challenge: 'a'.repeat(43),
  code_challenge_method: 'S256',
  scope: 'openid svc.me.profile:read',
})
/** By page: what is sent beside, and the parameters that it reads. */
const pages: Record<string, [others: () => Record<string, string>, names: readonly string[]]> = {
  authorize: [authorization, OAUTH],
  'end-session': [() => ({}), ['id_token_hint', 'post_logout_redirect_uri', 'client_id', 'state', 'ui_locales']],
  connected: [() => ({}), ['consent', 'ui_locales']],
  device: [() => ({}), ['user_code']],
  club: [() => ({}), ['club', 'app', 'page']],
  'family/remove': [() => ({}), ['child', 'club', 'app']],
  family: [() => ({}), ['page']],
  userinfo: [() => ({}), ['access_token']],
  'authorize/a': [() => ({}), []],
  jwks: [() => ({}), []],
}

const inAuth = (path: string): Input => ({ port: one.port, host: 'auth.test', path })

describe.each(Object.keys(pages))('at %s', (page) => {
  const lengths = page === 'authorize' ? [IN_AUTHORIZATION, IN_HEAD - 400] : [IN_HEAD - 400]
  it.each(lengths)('no parameter of %i bytes costs 20 ms more than an ordinary one', async (length) => {
    const [sent, names] = pages[page]!
    for (const name of names) {
      const { [name]: _, ...others } = sent()
      const path = `/v1/oauth/${page}?${new URLSearchParams(others)}`
      const input = (text: string) => inAuth(withParameter(path, name, text, length - path.length))
      await expectCheap(`${page}, ${name}`, input, length)
    }
    const query = (text: string) => inAuth(asPath(`/v1/oauth/${page}?${text}`))
    await expectCheap(`${page}, the query`, query, length - 100)
  })
})

const CREDENTIALS = ['client_id', 'client_secret', 'client_assertion', 'client_assertion_type']
const known = () => ({ client_id: one.client })
/** By endpoint: what is sent beside, and the fields that it reads. */
const endpoints = [
  ['token', () => ({ grant_type: 'authorization_code', code: 'a', redirect_uri: redirectUri, ...known() }), OAUTH],
  ['token', () => ({ grant_type: 'refresh_token', refresh_token: 'a', ...known() }), ['refresh_token', 'scope']],
  ['token', () => ({ grant_type: 'client_credentials', ...known() }), [...CREDENTIALS, 'scope']],
  ['token', () => ({ grant_type: deviceGrant, ...known() }), ['device_code']],
  ['revoke', () => ({ token: 'a', ...known() }), ['token', 'token_type_hint', ...CREDENTIALS]],
  ['device/auth', () => ({ scope: 'openid', ...known() }), ['scope', 'ui_locales', 'login_hint', ...CREDENTIALS]],
  ['device', () => ({}), ['user_code']],
  ['end-session/confirm', () => ({ decision: 'stay' }), ['query', 'decision']],
  ['end-session', () => ({}), ['id_token_hint']],
  ['authorize', authorization, ['scope']],
  ['userinfo', () => ({}), ['access_token']],
] as const

describe.each(endpoints)('at POST %s', (endpoint, sent, names) => {
  const post = (form: string): Input => ({
    ...inAuth(`/v1/oauth/${endpoint}`),
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://auth.test' },
    body: form,
  })

  /** A longer form of a page is refused unread. */
  const length = isPage(endpoint) ? 7_800 : IN_BODY - 300

  it('no field costs 20 ms more than an ordinary one', async () => {
    for (const name of names) {
      const { [name]: _, ...others }: Record<string, string> = sent()
      const raw = (text: string) => post(`${new URLSearchParams(others)}&${text}`)
      const place = `${endpoint}, ${others.grant_type ?? ''} ${name}`
      await expectCheap(place, (text) => raw(`${name}=${encoded(text, length)}`), length)
      await expectCheap(place, raw, length, repeated(name))
    }
  })

  it('no body, and no query, costs 20 ms more than an ordinary one', async () => {
    await expectCheap(`${endpoint}, the body`, post, length)
    const { path, ...input } = post(`${new URLSearchParams(sent())}`)
    const query = (text: string) => ({ ...input, path: asPath(`${path}?${text}`) })
    await expectCheap(`${endpoint}, its query`, query, IN_HEAD - 400)
  })
})

const isPage = (endpoint: string) => /^(?:device|end-session.*|authorize)$/.test(endpoint)

const calls = sampleCalls()

const makeRequest = (name: string, address = one.calls[name]!.path, content?: string): Input => {
  const { section, tokens, isOfApp, method, body } = one.calls[name]!
  const sent = content ?? (body && JSON.stringify(body))
  const authorization = `Bearer ${isOfApp ? one.ofApp : one.tokens[tokens]}`
  return {
    port: one.port,
    host: `${section}.test`,
    method,
    path: `/v1${address}`,
    headers: { authorization, ...(sent !== undefined && { 'content-type': 'application/json' }) },
    ...(sent !== undefined && { body: sent }),
  }
}

it.each(Object.keys(calls))('no parameter of %s costs 20 ms more than an ordinary one', async (name) => {
  const [plain, search] = one.calls[name]!.path.split('?')
  const length = IN_HEAD - 1_500
  const at = (address: string) => makeRequest(name, address)
  for (const key of [...new URLSearchParams(search).keys(), 'since', 'unknown']) {
    const others = new URLSearchParams(search)
    others.delete(key)
    const sent = (text: string) => at(withParameter(`${plain}?${others}`, key, text, length))
    await expectCheap(`${name}, ${key}`, sent, length)
    const again = (text: string) => at(`${plain}?${others}&${text}`)
    await expectCheap(`${name}, ${key}`, again, length, repeated(key))
  }
  await expectCheap(`${name}, the query`, (text) => at(asPath(`${plain}?${text}`)), length)
  for (const segment of plain!.split('/').slice(2)) {
    const sent = (text: string) => at(plain!.replace(`/${segment}`, () => `/${encoded(text, length)}`))
    await expectCheap(`${name}, ${segment} of the path`, sent, length)
  }
})

const withBody = Object.keys(calls).filter((name) => calls[name]!.body)

it.each(withBody)('no body of %s, and no field in it, costs 20 ms more than an ordinary one', async (name) => {
  const { path, body } = one.calls[name]!
  const sent = (text: string) => makeRequest(name, path, text)
  await expectCheap(`${name}, the body`, sent, IN_BODY, { ...shapes, ...jsonShapes })
  for (const field of Object.keys(body!)) {
    const marked = JSON.stringify({ ...body, [field]: 0 })
    const json = (text: string) => sent(marked.replace(`"${field}":0`, () => `"${field}":${text}`))
    await expectCheap(`${name}, ${field}`, (text) => json(JSON.stringify(text)), IN_BODY)
    await expectCheap(`${name}, ${field}`, json, IN_BODY, jsonShapes)
  }
})

const paths: Record<string, (text: string) => Input> = {
  'a path': (text) => ({ port: one.port, path: asPath(`/${text}`) }),
  'a path below /v1': (text) => ({ port: one.port, path: asPath(`/v1/${text}`) }),
  'a path of the authorization server': (text) => inAuth(asPath(`/v1/oauth/${text}`)),
  'a path of the portal': (text) => inAuth(asPath(`/v1/oauth/developers/${text}`)),
  'a path of the docs': (text) => ({ port: one.port, path: asPath(`/docs/${text}`) }),
  'a query of the docs': (text) => ({ port: one.port, path: asPath(`/docs?search=${text}`) }),
  'a path of the reference': (text) => ({ port: one.port, path: asPath(`/v1/docs/${text}`) }),
  'a path of storage': (text) => ({ port: one.port, path: asPath(`/v1/storage/${text}`) }),
  'a well-known path': (text) => inAuth(asPath(`/.well-known/${text}`)),
  'an absolute address': (text) => ({ port: one.port, path: asPath(`http://${text}`) }),
  'an absolute address of a host': (text) => ({ port: one.port, path: asPath(`http://apps.test/v1/${text}`) }),
  'a path of the internal port': (text) => ({ port: one.internalPort, host: 'localhost', path: asPath(`/${text}`) }),
  'a query of the internal port': (text) => ({
    port: one.internalPort,
    host: 'localhost',
    path: asPath(`/readyz?exclude=${text}`),
  }),
}

it.each(Object.entries(paths))('no shape of %s costs 20 ms more than an ordinary one', async (what, buildInput) => {
  await expectCheap(what, buildInput, IN_HEAD)
})

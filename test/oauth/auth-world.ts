import { createHash, randomBytes } from 'node:crypto'
import { afterAll } from 'vitest'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { ownTenant } from '../support/own-tenant.ts'
import { startedAround } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'
import { authBaseUrl, startWorld } from '../support/world.ts'
import type { Page } from './browser.ts'
import { Browser } from './browser.ts'

export const issuer = `${authBaseUrl}/oauth`
export const redirectUri = 'https://app.example/callback'
export const clubScopes = memberScopes.filter((scope) => scope.startsWith('svc.'))

export interface Asked {
  client: string
  scope: string
  redirectUri?: string
  /** Parameters that replace the usual ones; undefined leaves one out. */
  more?: Record<string, string | undefined>
}

export interface Tokens {
  access_token: string
  refresh_token: string
  /** With `openid`. */
  id_token: string
  scope: string
  expires_in: number
  token_type: string
}

export type AuthWorld = Awaited<ReturnType<typeof startAuthWorld>>

/** A service with its authorization server, and an app registered for every scope. */
export async function startAuthWorld(options: Parameters<typeof startWorld>[0] = {}) {
  const world = await startWorld({ auth: {}, ...options })
  const client = options.like ? world.ids.client : await register(world)
  const steps = flow(world, options.authBaseUrl && `${options.authBaseUrl}/oauth`)
  /** What `GET /me/profile` answers to an access token. */
  const profileStatus = async (token: string) => (await world.call('GET', '/me/profile', { token })).status
  return { world, client, profileStatus, ...steps }
}

/** One for all tests of a file. */
export const authWorld = (...options: Parameters<typeof startAuthWorld>) =>
  startedAround(() => startAuthWorld(...options))

/** The same on a database of its own. */
export const ownAuthWorld = () => startedAround(async () => startAuthWorld(await ownTenant(afterAll)))

/** Two nodes of one tenant, for all tests of a file. */
export function twoNodes() {
  const here = authWorld()
  return { here, there: startedAround(() => startAuthWorld({ like: here.world })) }
}

/** Registers a client of the tenant's team and app. */
export async function register(
  world: World,
  more: Partial<Parameters<World['db']['client']['create']>[0]['data']> = {},
) {
  const { team, app } = world.ids
  const client = await world.db.client.create({
    data: {
      id: id('app'),
      name: 'Sample',
      teamId: team,
      appId: app,
      environment: 'production',
      redirectUris: [redirectUri],
      scopes: memberScopes,
      ...more,
    } as never,
  })
  return client.id
}

/** An app's steps against a service, and its member's in a browser: by default the tenant's, for their club. */
export function flow({ publicPort: port, ids }: Pick<World, 'publicPort' | 'ids'>, at = issuer) {
  const app = new Browser(port)
  const newBrowser = () => new Browser(port)

  const authorizeUrl = (asked: Asked) => {
    const verifier = randomBytes(32).toString('base64url')
    const url = new URL(`${at}/authorize`)
    const parameters = {
      response_type: 'code',
      client_id: asked.client,
      redirect_uri: asked.redirectUri ?? redirectUri,
      scope: asked.scope,
      state: 'the-state',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...asked.more,
    }
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value)
    return { url, verifier }
  }

  const token = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    app.post(`${at}/token`, fields, headers)
  const refresh = (client: string, refresh_token: string, more: Record<string, string> = {}) =>
    token({ grant_type: 'refresh_token', client_id: client, refresh_token, ...more })
  const exchange = (client: string, code: string, code_verifier: string, uri = redirectUri) =>
    token({ grant_type: 'authorization_code', client_id: client, code, code_verifier, redirect_uri: uri })

  /** Up to the consent page, signing the member in if necessary. */
  const toConsent = async (browser: Browser, url: URL, member: string): Promise<Page> => {
    const page = await browser.open(url)
    return /name="member"/.test(page.text) ? browser.submit(page, 'pick', { member }) : page
  }

  /** Up to the authorization code. */
  const toCode = async (asked: Asked, member = ids.member, organisation = ids.club, browser = newBrowser()) => {
    const { url, verifier } = authorizeUrl(asked)
    const page = await toConsent(browser, url, member)
    const back = await browser.submit(page, 'consent', {
      organisation,
      scope: asked.scope.split(' '),
      decision: 'allow',
    })
    return { code: back.location!.searchParams.get('code')!, verifier, browser, back: back.location! }
  }

  const toTokens = async (asked: Asked, ...whose: [member?: string, organisation?: string, browser?: Browser]) => {
    const { code, verifier } = await toCode(asked, ...whose)
    const answer = await exchange(asked.client, code, verifier, asked.redirectUri)
    if (answer.status !== 200) throw new Error(`No tokens: ${answer.status} ${answer.text}`)
    return answer.json as Tokens
  }

  return { app, newBrowser, authorizeUrl, token, refresh, exchange, toConsent, toCode, toTokens }
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect } from 'vitest'
import type { Page } from '../../oauth/browser.ts'
import { Browser, offered } from '../../oauth/browser.ts'
import { dataDirectoryWithCluster, freePort, start } from '../../process/service.ts'
import type { AtEnd } from '../../support/databases.ts'
import { startedTogether } from '../at-end.ts'

/** A client as the portal registers it; `secret` for an app that has a server. */
export interface Registered {
  id: string
  redirectUri: string
  secret?: string
}

interface Registration {
  server?: boolean
  type?: 'web' | 'native'
  devices?: boolean
  redirectUri?: string
  logout?: string
}

/** In the order of the form, which a token's scopes have as well. */
const SCOPES = ['svc.me.profile:read', 'svc.apps.storage:read', 'svc.apps.storage:write', 'openid', 'profile', 'email']

/** For all tests of a file: a trial, whose issuer is at a path of localhost; and its portal and members. */
export function clientsWorld(prepare: (atEnd: AtEnd) => Promise<void> = async () => {}) {
  return startedTogether(async (atEnd) => {
    await prepare(atEnd)
    const { port } = await start({ DATA_DIR: await dataDirectoryWithCluster(atEnd) }, { atEnd })
    return worldAt(port, atEnd)
  })
}

/** Registers a sandbox client of the demo's team as its developer does, at a trial on this port. */
export function registrar(port: number) {
  const issuer = `http://localhost:${port}/auth/v1/oauth`
  return async function register({
    server = false,
    type = 'web',
    devices = false,
    logout,
    ...more
  }: Registration = {}) {
    const redirectUri = more.redirectUri ?? `http://localhost:${await freePort()}/callback`
    const browser = new Browser(port)
    await browser.submit(await browser.open(`${issuer}/developers`), 'pick', { member: 'anna' })
    const team = `${issuer}/developers/teams/builders`
    const post = async (path: string, fields: Record<string, string | string[]>) => {
      const page = await browser.follow(await browser.post(`${team}${path}`, fields))
      if (page.status !== 200) throw new Error(`${path}: ${page.status} ${readWords(page.text)}`)
      return page
    }
    const access = { redirectUris: redirectUri, scopes: SCOPES, ...(devices && { devices: 'yes' }) }
    const made = await post('/apps/trainer-app/clients/create', { name: 'Sample', type, ...access })
    const id = shown(made.text, 'Client id')
    const client: Registered = { id, redirectUri }
    const own = `/clients/${id}`
    const version = async () => offered(await browser.get(`${team}${own}/sign-in`), 'version')[0]!
    if (logout) {
      const settings = { name: 'Sample', redirectUris: redirectUri, postLogoutRedirectUris: logout }
      await post(`${own}/sign-in/settings`, { version: await version(), ...settings })
    }
    if (!server) return client
    client.secret = shown((await post(`${own}/credentials/create-secret`, { days: '90' })).text, 'Secret')
    await post(`${own}/credentials/authentication`, {
      version: await version(),
      authentication: 'client_secret',
      keys: '',
    })
    return client
  }
}

export function worldAt(port: number, atEnd: AtEnd) {
  const origin = `http://localhost:${port}`
  const issuer = `${origin}/auth/v1/oauth`
  const signedIn = (page: Page, browser: Browser) =>
    page.text.includes('name="member"') ? browser.submit(page, 'pick', { member: 'anna' }) : page

  /** Signs the sandbox's member in and allows everything; returns the address that the browser comes back to. */
  async function signIn(address: string | URL, browser = new Browser(port)): Promise<URL> {
    const page = await signedIn(await browser.open(address), browser)
    const organisation = offered(page, 'organisation')[0]!
    const answer = { organisation, scope: offered(page, 'scope'), decision: 'allow' }
    const done = await browser.submit(page, 'consent', answer)
    if (!done.location) throw new Error(`No way back: ${done.status} ${readWords(done.text)}`)
    return done.location
  }

  const toSettings = ({ id, redirectUri, secret }: Registered) => ({
    ISSUER: issuer,
    PROFILE: `${origin}/apps/v1/me/profile`,
    CLIENT_ID: id,
    REDIRECT_URI: redirectUri,
    ...(secret && { CLIENT_SECRET: secret }),
  })

  const launch = (command: string[], client: Registered, { cwd, env = {} }: Place) => {
    const child = spawn(command[0]!, command.slice(1), {
      cwd,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...toSettings(client), ...env },
      detached: true,
    })
    const ended = once(child, 'close')
    atEnd(async () => {
      // With the processes that it has started, which may outlive it.
      try {
        process.kill(-child.pid!, 'SIGKILL')
      } catch {}
      await ended
    })
    const errors: Buffer[] = []
    child.stderr.on('data', (chunk) => errors.push(chunk))
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const next = async () => {
      const { value, done } = await lines.next()
      if (done) throw new Error(`${command.join(' ')}: ${Buffer.concat(errors)}`)
      return value
    }
    return { child, next }
  }

  /** Runs a program that prints where to sign in, reads the address that the browser comes back to, and prints its result. */
  async function run(command: string[], client: Registered, place: Place) {
    const { child, next } = launch(command, client, place)
    child.stdin.end(`${await signIn(await next())}\n`)
    return JSON.parse(await next())
  }

  /** The same of one that opens a browser itself, and may print more before. */
  async function runToEnd(command: string[], client: Registered, place: Place) {
    const { next } = launch(command, client, place)
    for (;;) {
      const line = await next()
      if (line.startsWith('{"member":')) return JSON.parse(line)
    }
  }

  /** Starts a server that prints `ready`, at the port of its redirect URI. */
  async function serve(command: string[], client: Registered, cwd: string, env = {}) {
    expect(await launch(command, client, { cwd, env: { PORT: new URL(client.redirectUri).port, ...env } }).next()).toBe(
      'ready',
    )
  }

  const newBrowser = () => new Browser(port)
  return { issuer, port, register: registrar(port), signIn, signedIn, launch, run, runToEnd, serve, newBrowser }
}

interface Place {
  cwd: string
  env?: Record<string, string>
}

/** What the portal shows to be copied. */
function shown(text: string, label: string): string {
  const [, found] = new RegExp(`<code data-copy="${label}">([^<]+)`).exec(text) ?? []
  if (found === undefined) throw new Error(`No ${label}: ${readWords(text)}`)
  return found
}

const readWords = (page: string) => page.replace(/<style[\s\S]*?<\/style>|<[^>]*>|\s+/g, ' ').trim()

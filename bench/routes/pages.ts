import { createHmac, hkdfSync } from 'node:crypto'
import { PEOPLE } from '../data/people.ts'
import { SECRETS_KEY } from '../data/tokens.ts'
import type { Request } from '../load/process.ts'
import { spread } from '../load/spread.ts'

/** The most CPU time of a page, in µs. */
export const PAGE_LIMIT = 5_000

interface Page {
  /** The host's name; default: of the authorization server. */
  host?: 'apps'
  path: (of: (typeof PEOPLE)[number]) => string
}

const PORTAL = '/v1/oauth/developers'

const portal = (below: (team: string, person: string) => string): Page => ({
  path: ({ team, id }) => PORTAL + below(team, id),
})
const ofTeam = (section: string) => portal((team) => `/teams/${team}${section}`)
const ofApp = (page: string) => portal((team) => `/teams/${team}/apps/${team}${page}`)
const ofClient = (page: string) => portal((team) => `/teams/${team}/clients/${team}-sandbox${page}`)
const ofStore = (below: string) => portal((team) => `/teams/${team}/apps/${team}/data/club-of-${team}${below}`)

const ofApis = (path: string): Page => ({ host: 'apps', path: () => path })

export const pages: Record<string, Page> = {
  connected: { path: () => '/v1/oauth/connected' },
  'portal-teams': portal(() => ''),
  'portal-mails': portal(() => '/mails'),
  'portal-team': ofTeam(''),
  'portal-test-club': ofTeam('/test-club'),
  'portal-test-club-reset': ofTeam('/test-club/reset'),
  'portal-people': ofTeam('/people'),
  'portal-person-remove': portal((team, person) => `/teams/${team}/people/${person}/remove`),
  'portal-usage': ofTeam('/usage'),
  'portal-usage-hours': ofTeam('/usage?by=hour'),
  'portal-requests': ofTeam('/requests'),
  'portal-audit': ofTeam('/audit'),
  'portal-team-delete': ofTeam('/delete'),
  'portal-app': ofApp(''),
  'portal-app-delete': ofApp('/delete'),
  'portal-webhook': ofApp('/webhook'),
  'portal-webhook-remove': ofApp('/webhook/remove'),
  'portal-rules': ofApp('/rules'),
  'portal-deliveries': ofApp('/deliveries'),
  'portal-delivery': portal((team) => `/teams/${team}/apps/${team}/deliveries/${team}-delivery-0`),
  'portal-stores': ofApp('/data'),
  'portal-collections': ofStore(''),
  'portal-entries': ofStore('/shared/notes'),
  'portal-entry': ofStore('/shared/notes/key-0'),
  'portal-client': ofClient(''),
  'portal-client-production': ofClient('/production'),
  'portal-client-remove': ofClient('/remove'),
  reference: ofApis('/v1/docs'),
  'reference-errors': ofApis('/v1/docs/errors'),
  docs: ofApis('/docs'),
  'docs-page': ofApis('/docs/first-app'),
  llms: ofApis('/llms.txt'),
}

const SESSION = 'member_session'

/** As in server/oauth/mount.ts, which takes seconds to load. */
const COOKIE_KEY = Buffer.from(hkdfSync('sha256', SECRETS_KEY, '', 'oauth cookies', 32)).toString('base64url')

/** As `cookies` signs it. */
function sessionCookie(session: string) {
  const cookie = `${SESSION}=${session}`
  return `${cookie}; ${SESSION}.sig=${createHmac('sha1', COOKIE_KEY).update(cookie).digest('base64url')}`
}

/** Each person's request, in an order that spreads a team's over a round. */
export function pageRequests(name: string, people = PEOPLE): Request[] {
  const { host = 'auth', path } = pages[name]!
  return spread(people).map((person) => ({
    method: 'GET',
    path: path(person),
    headers: { host: `${host}.localhost`, accept: 'text/html', cookie: sessionCookie(person.session) },
    body: undefined,
  }))
}

import { gzipSync } from 'node:zlib'
import { startTeamWorld } from '../developer/team-world.ts'
import { addEntry } from '../directory/person-rows.ts'
import { issuer } from '../oauth/auth-world.ts'
import { Browser } from '../oauth/browser.ts'
import { startedAround } from '../support/started.ts'
import type { startWorld } from '../support/world.ts'

export const portal = `${issuer}/developers`

export type PortalWorld = Awaited<ReturnType<typeof startPortal>>

/** A service with the portal, and a team whose people sign in by choosing who they are. */
export async function startPortal(options: Parameters<typeof startWorld>[0] = {}) {
  const team = await startTeamWorld({ auth: {}, ...options })
  const { world, owner, colleague, stranger } = team
  const signIn = async (person: string, browser = new Browser(world.publicPort)) => {
    const page = await browser.open(portal)
    await browser.submit(page, 'pick', { member: person })
    return browser
  }
  const [asOwner, asColleague, asStranger] = await Promise.all([owner, colleague, stranger].map((one) => signIn(one)))
  const own = `${portal}/teams/${world.ids.team}`
  return {
    ...team,
    signIn,
    asOwner: asOwner!,
    asColleague: asColleague!,
    asStranger: asStranger!,
    own,
    app: `${own}/apps/${world.ids.app}`,
    clientAt: (client: string) => `${own}/clients/${client}`,
    newBrowser: () => new Browser(world.publicPort),
    /** A failed delivery of the tenant's app. */
    async failed() {
      const { db, ids } = world
      await db.app.update({ where: { id: ids.app }, data: { webhookUrl: 'https://hooks.example/in' } })
      const { delivery } = await team.as(owner).webhook.test({ app: ids.app })
      const data = { state: 'failed', attempts: 8, lastError: 'connection refused', nextAttemptAt: null } as const
      await db.delivery.update({ where: { id: delivery }, data: { ...data, finishedAt: new Date() } })
      return delivery
    },
  }
}

/** One for all tests of a file. */
export const portalWorld = (...options: Parameters<typeof startPortal>) => startedAround(() => startPortal(...options))

/** Bytes as a proxy sends them, with gzip. */
export const weigh = (text: string) => gzipSync(text).length

/** Stores an entry of the app that the team's test club shares, and returns the club; the entry is `data/CLUB/shared/c/k`. */
export async function storeEntry({ world: { db, ids }, as, owner }: PortalWorld, value = '{"n": 1.0}') {
  const { testClub } = await as(owner).testClub.get({ team: ids.team })
  await addEntry(db, { app: ids.app, club: testClub!.club.id, owner: '', key: 'k', value })
  return testClub!.club.id
}

/** Each page of a team that has a sandbox client and a delivery, below the portal's address. */
export const listPages = (team: string, app: string, client: string, delivery: string, secret?: string) => {
  const own = `/teams/${team}`
  const sections = ['', '/test-club', '/test-club/reset', '/people', '/usage', '/requests', '/audit', '/delete'].map(
    (section) => own + section,
  )
  const ofApp = [
    '',
    '/clients',
    '/requests',
    '/usage',
    '/settings',
    '/delete',
    '/webhook',
    '/webhook/remove',
    '/addresses',
    '/data',
    '/rules',
    '/deliveries',
    `/deliveries/${delivery}`,
  ].map((page) => `${own}/apps/${app}${page}`)
  const ofSecret = secret === undefined ? [] : [`/credentials/secrets/${secret}/remove`]
  const ofClient = ['', '/start', '/sign-in', '/scopes', '/credentials', '/production', '/remove', ...ofSecret].map(
    (page) => `${own}/clients/${client}${page}`,
  )
  return [...sections, ...ofApp, ...ofClient]
}

interface OtherIds {
  address: string
  club: string
  person: string
  invitation: string
}

/**
 * The pages of the portal that a team has besides: of its people, addresses and data, of clubs that approve apps, and of nobody's
 * team.
 */
export const listOtherPages = (team: string, app: string, { address, club, person, invitation }: OtherIds) => {
  const ofApp = ['', '/remove'].map((page) => `/addresses/${address}${page}`)
  const ofData = ['', '/shared/c', '/shared/c/k'].map((page) => `/data/${club}${page}`)
  return [
    '',
    '/mails',
    `/invitations/${invitation}`,
    `/teams/${team}/people/${person}/remove`,
    ...['/clubs', ...ofApp, ...ofData].map((page) => `/teams/${team}/apps/${app}${page}`),
  ]
}

/** Each form with fields that are accepted, likewise. */
export const listForms = (
  team: string,
  app: string,
  client: string,
  delivery: string,
  person: string,
  provider: string,
  secret = 'none',
): Record<string, Record<string, string | string[]>> => {
  const own = `/teams/${team}`
  const ofApp = `${own}/apps/${app}`
  const ofClient = `${own}/clients/${client}`
  const redirectUris = 'https://app.example/callback\r\n\r\nhttps://app.example/other\r\n'
  const profile = 'svc.me.profile:read'
  return {
    [`${own}/apps`]: { name: 'Scores', provider },
    [`${own}/people/invite`]: { email: 'new@example.org', role: 'developer' },
    [`${own}/people/role`]: { person, role: 'owner' },
    [`${own}/people/${person}/remove/confirm`]: { role: 'developer' },
    [`${ofApp}/settings/details`]: {
      version: '0',
      name: 'Trainer',
      description: 'Plans.',
      homepage: 'https://app.example',
    },
    [`${ofApp}/settings/remove-logo`]: { version: '0' },
    [`${ofApp}/settings/withdraw-changes`]: { version: '0' },
    [`${ofApp}/clients/create`]: { name: 'Second', type: 'web', redirectUris, scopes: [profile] },
    [`${ofApp}/rules/set`]: { collection: 'scores', rule: 'author' },
    [`${ofApp}/webhook/set`]: { etag: '', url: 'https://hooks.example/in', secret: 'secret-4711' },
    [`${ofApp}/webhook/end-former-secret`]: {},
    [`${ofApp}/webhook/test`]: {},
    [`${ofApp}/webhook/remove/confirm`]: { url: 'https://hooks.example/in' },
    [`${ofApp}/addresses/add`]: { environment: 'sandbox', url: 'https://hooks.example/in', secret: '', all: 'yes' },
    [`${ofApp}/addresses/none/set`]: {
      etag: '',
      url: 'https://hooks.example/in',
      secret: '',
      types: ['', 'member.left'],
    },
    [`${ofApp}/addresses/none/set-state`]: { state: 'paused' },
    [`${ofApp}/addresses/none/test`]: {},
    [`${ofApp}/addresses/none/remove/confirm`]: {},
    [`${ofApp}/deliveries/${delivery}/retry`]: {},
    [`${ofApp}/deliveries/${delivery}/resend`]: {},
    [`${ofApp}/deliveries/retry-failed`]: { span: 'day' },
    [`${ofClient}/sign-in/settings`]: { version: '0', name: 'Renamed', redirectUris },
    [`${ofClient}/scopes/set`]: { version: '0', scopes: [profile, 'svc.me.events:read'] },
    [`${ofClient}/credentials/authentication`]: { version: '0', authentication: 'none', keys: '' },
    [`${ofClient}/credentials/create-secret`]: { days: '180' },
    [`${ofClient}/credentials/secrets/${secret}/remove/confirm`]: {},
    [`${ofClient}/withdraw`]: { version: '0' },
    [`${ofClient}/reference`]: { section: 'apps' },
    [`${ofClient}/start/prepare`]: {},
    [`${own}/test-club/reset/confirm`]: {},
    [`${own}/delete/confirm`]: { confirm: 'another' },
    [`${own}/restore`]: {},
    [`${ofApp}/delete/confirm`]: { confirm: 'another' },
    [`${ofApp}/restore`]: {},
    [`${own}/test-club/review`]: { result: 'result', correct: 'yes' },
    [`${ofClient}/production/request`]: {
      version: '0',
      name: 'Trainer',
      redirectUris,
      scopes: [profile],
      [`purpose.${profile}`]: 'It greets the member.',
    },
    [`${ofClient}/remove/confirm`]: { confirm: client },
  }
}

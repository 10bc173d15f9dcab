import { createHash } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Database } from '../../../prisma/client.ts'
import { startEmbedded } from '../../../prisma/embedded/start.ts'
import { migrate } from '../../../prisma/migrate.ts'
import { seed } from '../../../prisma/seed.ts'
import { requestApproval } from '../../../routers/approvals/approvals.ts'
import { decide } from '../../../routers/approvals/decide.ts'
import { memberScopesAt } from '../../../routers/kernel/scopes.ts'
import { startMailServer } from '../../oauth/mail-server.ts'
import { start } from '../../process/service.ts'
import { openTestDatabase } from '../../support/test-database.ts'

const CLIENT = 'trainer-app'
const REDIRECT = 'https://trainer.example.org/'
const ASKED = ['me.profile:read', 'me.groups:read', 'me.events:read', 'apps.storage:read', 'apps.storage:write']
const scope = ASKED.map((name) => `svc.${name}`).join(' ')

/** By their names. */
export const memberPages = [
  ...['sign-in', 'code', 'error', 'no-membership', 'no-club', 'club', 'consent', 'device', 'consent-device'],
  ...['connected-apps', 'remove-access', 'signed-out'],
]

type Take = (
  addresses: Record<string, string>,
  enter?: (page: Page, context: BrowserContext) => unknown,
) => Promise<void>

/** Takes the members' pages of a service as in production, whose clubs approve apps: on the demo data, with more of Trainer. */
export async function takeMemberPages(browser: Browser, take: Take): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-member-pages-'))
  await chmod(directory, 0o755)
  const [server, mailServer] = await Promise.all([startEmbedded(directory), startMailServer()])
  await migrate(server.url)
  const db = openTestDatabase(server.url)
  await seed(db, new Date(), memberScopesAt)
  await completeTrainer(db)
  const settings = {
    DATABASE_URL: server.url,
    DATA_DIR: directory,
    CLUB_APPROVAL: 'true',
    SMTP_URL: mailServer.url,
    MAIL_FROM: 'Member apps <no-reply@example.org>',
    LOGIN_ISSUER: 'http://127.0.0.1:9',
    LOGIN_CLIENT_ID: 'member-apps',
    LOGIN_NAME: 'Vereinswerk',
  }
  const service = await start(settings, { atEnd: () => {} })
  const oauth = `http://auth.localhost:${service.port}/v1/oauth`
  const authorize = (asked = scope, redirect = REDIRECT) => `${oauth}/authorize?${query(asked, redirect)}`

  const askForCode = async (page: Page, email: string) => {
    await page.locator('#email').fill(email)
    await page.locator('form[action$="/email"] button').click()
    await page.locator('#code').waitFor()
  }
  /** The cookies of a member who has signed in. */
  const signIn = async (email: string) => {
    const context = await browser.newContext({ locale: 'en-GB' })
    const page = await context.newPage()
    await page.goto(`${oauth}/connected`)
    await askForCode(page, email)
    for (let tries = 0; mailServer.mailsTo(email).length === 0 && tries < 100; tries++) await page.waitForTimeout(50)
    const [code] = /\d{8}/.exec(mailServer.mailsTo(email)[0]!.parts['text/plain']!)!
    await page.locator('#code').fill(code)
    await Promise.all([page.waitForURL(/connected/), page.locator('form[action$="/code"] button').click()])
    const cookies = await context.cookies()
    await context.close()
    return (_: Page, at: BrowserContext) => at.addCookies(cookies)
  }

  await take({ 'sign-in': authorize() })
  await take({ code: '' }, async (page) => {
    await page.goto(authorize())
    await askForCode(page, 'no.member@example.org')
  })
  await take({ error: authorize(scope, 'https://other.example.org/') })
  const [asAnna, asEmil] = [await signIn('anna.berger@example.org'), await signIn('emil.haddad@example.org')]
  await take({ 'no-membership': authorize('lms.me.quizzes:write') }, asEmil)

  await requestApproval(db, { club: 'northgate', app: CLIENT }, Date.now())
  await take({ 'no-club': authorize() }, asAnna)
  await requestApproval(db, { club: 'riverside', app: CLIENT }, Date.now())
  await take({ club: `${oauth}/club` }, asEmil)

  for (const club of ['riverside', 'northgate']) {
    const decision = { club, app: CLIENT, state: 'approved', reason: null } as const
    await decide(db, decision, { administrator: null, at: new Date() })
  }
  await take({ consent: authorize() }, asAnna)
  await take({ device: `${oauth}/device` })
  await take({ 'consent-device': '' }, async (page, context) => {
    await asAnna(page, context)
    const body = new URLSearchParams({ client_id: CLIENT, scope })
    const answer = await page.request.post(`http://localhost:${service.port}/v1/oauth/device/auth`, {
      headers: { host: `auth.localhost:${service.port}`, 'content-type': 'application/x-www-form-urlencoded' },
      data: String(body),
    })
    await page.goto((await answer.json()).verification_uri_complete)
    await page.locator('main button').click()
    await page.locator('button[name=decision]').first().waitFor()
  })

  await allow(db)
  await take({ 'connected-apps': `${oauth}/connected` }, asAnna)
  await take({ 'remove-access': `${oauth}/connected/remove?consent=trainer` }, asAnna)
  await take({ 'signed-out': '' }, async (page, context) => {
    await asAnna(page, context)
    await page.goto(`${oauth}/end-session`)
    await page.locator('button[value=end]').click()
    await page.locator('h1').waitFor()
  })

  await service.stop()
  await Promise.all([db.$disconnect(), mailServer.close()])
  await server.stop()
  await rm(directory, { recursive: true, force: true })
}

const query = (asked: string, redirect: string) =>
  new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT,
    redirect_uri: redirect,
    scope: asked,
    state: 'one',
    code_challenge: createHash('sha256').update('a verifier of the pictures, 43 characters long').digest('base64url'),
    code_challenge_method: 'S256',
  })

/** Anna is in a second club, and Trainer says what it is for. */
async function completeTrainer(db: Database) {
  const description = 'Training plans, attendance and results of a team in one place.'
  await db.app.update({ where: { id: CLIENT }, data: { description }, select: { id: true } })
  const purpose = { 'svc.me.profile:read': 'To greet members by name.', 'svc.apps.storage:write': 'To keep scores.' }
  await db.client.update({ where: { id: CLIENT }, data: { redirectUris: [REDIRECT], devices: true, purpose } })
  const membership = { organisationId: 'northgate', personId: 'anna', joinedAt: new Date('2025-03-01') }
  await db.membership.create({ data: membership })
}

/** Anna allows two apps. */
async function allow(db: Database) {
  const own = { personId: 'anna', organisationId: 'riverside' }
  const ofTrainer = { ...own, id: 'trainer', clientId: CLIENT, scopes: scope.split(' ') }
  const ofCakes = { ...own, id: 'cakes', clientId: 'hobby-app', scopes: ['svc.apps.storage:read'] }
  await db.consent.createMany({ data: [ofTrainer, ofCakes] })
}

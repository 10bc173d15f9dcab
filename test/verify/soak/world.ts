import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../prisma/client.ts'
import type { TokenSection } from '../../../routers/kernel/scopes.ts'
import { firstPartyScopes, memberScopes } from '../../../routers/kernel/scopes.ts'
import { redirectUri } from '../../oauth/auth-world.ts'
import { startMailServer } from '../../oauth/mail-server.ts'
import { createTenant, id } from '../../support/tenant.ts'
import { startReceiver } from '../../webhooks/receiver.ts'
import type { DemoClaims } from '../demo.ts'
import { demoToken } from '../demo.ts'
import { startTopology } from '../topology/start.ts'

/** Who each sign in a few times at most: codes are limited by address. */
const MEMBERS = 400

export type World = Awaited<ReturnType<typeof startSoakWorld>>

/** The topology of compose.yaml with a tenant, a mail server, and a receiver of deliveries. */
export async function startSoakWorld(databaseUrl: string, onLine: (service: string, line: string) => void) {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-soak-'))
  const authorities = join(directory, 'receivers.pem')
  const [mail, receiver] = await Promise.all([startMailServer(), startReceiver()])
  await writeFile(authorities, receiver.ca)
  const topology = await startTopology({
    databaseUrl,
    onLine,
    nodeArguments: ['--import', new URL('meter.mjs', import.meta.url).href],
    settings: {
      DATA_DIR: directory,
      DEVELOPMENT_TOKENS: 'true',
      SMTP_URL: mail.url,
      MAIL_FROM: 'Soak <soak@example.org>',
      WEBHOOK_ALLOW: '127.0.0.1,::1',
      NODE_EXTRA_CA_CERTS: authorities,
    },
  })
  const db = openDatabase(topology.databaseUrl, () => {})
  const ids = await createTenant(db)
  const people = Array.from({ length: MEMBERS }, () => id('person'))
  const toEmail = (person: string) => `${person}@example.org`
  await db.person.createMany({
    data: people.map((person) => ({ id: person, firstName: 'Mia', lastName: 'Member', email: toEmail(person) })),
  })
  const organisations = [ids.club, ids.academy, ids.provider]
  const memberships = (personId: string) => organisations.map((organisationId) => ({ organisationId, personId }))
  await db.membership.createMany({ data: people.flatMap(memberships) })
  const [web, browser, hobby, webhooks] = [id('web'), id('browser'), id('hobby'), id('webhooks')]
  await db.team.create({ data: { id: hobby, name: 'Hobby', level: 'hobby' } })
  const app = { name: 'App', providerId: ids.provider }
  await db.app.createMany({
    data: [
      { ...app, id: hobby, teamId: hobby },
      { ...app, id: webhooks, teamId: ids.team },
    ],
  })
  const client = { name: 'Client', redirectUris: [redirectUri], scopes: memberScopes }
  await db.client.createMany({
    data: [
      // Without a limit of requests, one that members sign in to, and one that is over its limit most of the time.
      { ...client, id: web, teamId: ids.team, appId: ids.app, environment: 'sandbox' },
      { ...client, id: browser, teamId: ids.team, appId: ids.app, environment: 'production' },
      { ...client, id: hobby, teamId: hobby, appId: hobby, environment: 'production' },
    ],
  })
  const [owner, colleague] = people as [string, string]
  await db.teamMember.createMany({
    data: [
      { teamId: ids.team, personId: owner, role: 'owner' },
      { teamId: ids.team, personId: colleague, role: 'owner' },
    ],
  })
  const consent = { id: id('consent'), personId: owner, organisationId: ids.club, clientId: web }
  await db.consent.create({ data: { ...consent, scopes: memberScopes } })
  const quiz = id('quiz')
  const question = { quizId: quiz, text: '?', options: ['Yes', 'No'] }
  await db.quiz.create({ data: { id: quiz, academyId: ids.academy, title: 'Quiz', threshold: 50, state: 'released' } })
  await db.question.createMany({
    data: [
      { ...question, id: 'q1', position: 1, type: 'single', solution: ['Yes'] },
      { ...question, id: 'q2', position: 2, type: 'text', options: [], solution: [] },
    ],
  })
  await db.$disconnect()

  const organisationBySection = { apps: ids.club, lms: ids.academy, notify: ids.provider }
  const token = (claims: DemoClaims) => demoToken(directory, { client: web, expiresInSeconds: 36_000, ...claims })
  return {
    topology,
    mail,
    receiver,
    ids,
    people,
    owner,
    colleague,
    toEmail,
    web,
    browser,
    hobby,
    webhooks,
    quiz,
    memberToken: (tokens: TokenSection, member: string, client = web) =>
      token({ client, member, organisation: organisationBySection[tokens] }),
    appToken: () => token({ member: null, organisation: ids.club }),
    platformToken: (organisation: string) =>
      token({ client: ids.platform, scope: firstPartyScopes.join(' '), member: null, organisation }),
    portalToken: (member: string) =>
      token({ client: ids.platform, scope: 'dev:read dev:write', member, organisation: ids.provider }),
    async close() {
      await topology.close()
      await Promise.all([mail.close(), receiver.close(), rm(directory, { recursive: true, force: true })])
    },
  }
}

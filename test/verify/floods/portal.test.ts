import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import type { TeamWorld } from '../../developer/team-world.ts'
import { startTeamWorld } from '../../developer/team-world.ts'
import { Browser } from '../../oauth/browser.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'
import { createTenant, id } from '../../support/tenant.ts'
import { authBaseUrl, sharedDatabase } from '../../support/world.ts'
import { holdFigure } from '../held-figure.ts'
import { peakMb } from '../memory/process-figures.ts'
import { slowestBeside } from './beside.ts'
import type { ForkedService } from './event-loop.ts'
import { forkService } from './event-loop.ts'

const portal = `${authBaseUrl}/oauth/developers`

const [APPS, CLIENTS, REQUESTS] = [30, 20, 200]
const LIMIT_MB = 512
const NEIGHBOUR_MS = 2_000

let team: TeamWorld
let service: ForkedService
let browsers: Browser[]
beforeAll(async () => {
  service = await forkService(inject('databaseUrl'), { AUTH_BASE_URL: authBaseUrl })
  const like = { ids: await createTenant(sharedDatabase()), secretsKeys: [Buffer.from(SECRETS_KEY, 'base64')] }
  team = await startTeamWorld({ auth: {}, like })
  const { db, ids } = team.world
  const apps = Array.from({ length: APPS }, () => id('app'))
  await db.app.createMany({
    data: apps.map((one) => ({ id: one, name: 'Fat', teamId: ids.team, providerId: ids.provider })),
  })
  const redirectUris = Array.from({ length: 50 }, (_, at) => `https://app.example/${at}/${'x'.repeat(600)}`)
  await db.client.createMany({
    data: apps.flatMap((appId) =>
      Array.from({ length: CLIENTS }, () => ({
        id: id('client'),
        name: 'Fat',
        teamId: ids.team,
        appId,
        environment: 'sandbox' as const,
        testOnly: true,
        redirectUris,
        scopes: ['svc.me.profile:read'],
      })),
    ),
  })
  browsers = await Promise.all([team.owner, team.stranger].map(signedIn))
})
afterAll(async () => {
  await service?.close()
  await team?.world.close()
})

/** A browser of the service, with the session that the world gave it: they have one database and one key. */
async function signedIn(member: string) {
  const browser = new Browser(team.world.publicPort)
  await browser.submit(await browser.open(portal), 'pick', { member })
  return Object.assign(new Browser(service.publicPort), { cookies: browser.cookies })
}

it('200 GETs at once of the People page of a team with 600 clients take less than 512 MB, and a neighbour is served', async () => {
  const [fat, neighbour] = browsers
  const people = `${portal}/teams/${team.world.ids.team}/people`
  const others = `${portal}/teams/${team.strangers}/people`
  // Loads and compiles what pages need.
  for (let time = 0; time < 5; time++) expect((await neighbour!.get(others)).status).toBe(200)
  const { host, pathname } = new URL(people)
  const cookie = fat!.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const head = [`GET ${pathname} HTTP/1.1`, `Host: ${host}`, `Cookie: ${cookie}`, 'Connection: close', ''].join('\r\n')
  const task = { port: service.publicPort, clients: REQUESTS, withinMs: 0, head }
  const slowest = await slowestBeside(task, service.pid, () => neighbour!.get(others))
  const peak = await peakMb(service.pid)
  holdFigure('memory while a team floods the portal', peak, 'MB', LIMIT_MB)
  holdFigure('a neighbour of that team', slowest, 'ms', NEIGHBOUR_MS)
})

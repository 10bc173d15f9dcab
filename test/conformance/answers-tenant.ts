import { inject } from 'vitest'
import type { TokenSection } from '../../routers/kernel/scopes.ts'
import { storageScopes } from '../../routers/kernel/scopes.ts'
import { corsHeaders } from '../../server/http/cors.ts'
import { listen } from '../../server/http/listen.ts'
import { consentTo, mintAppServer } from '../support/app-server.ts'
import type { AtEnd } from '../support/databases.ts'
import { migratedDatabase, query } from '../support/databases.ts'
import { createCard, createTenant, id } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'
import { createQuizzes } from './quizzes.ts'

export type Tenant = Awaited<ReturnType<typeof startTenant>>

/** A service behind a proxy, with what provokes each documented answer. */
export async function startTenant(atEnd: AtEnd) {
  const world = await startWorld({
    storageQuotaBytes: 1000,
    trustedProxies: ['127.0.0.1'],
    auth: {},
    passes: () => async () => Buffer.from('a pass'),
  })
  atEnd(() => world.close())
  const { db, ids } = world
  const client = async (level: 'hobby' | 'developer', appId: string | null = null) => {
    const [name, team] = [id('client'), id('team')]
    await db.team.create({ data: { id: team, name: 'Team', level } })
    const of = { teamId: team, appId, environment: 'production' as const, scopes: [...storageScopes] }
    await db.client.create({ data: { id: name, name: 'Client', ...of } })
    return name
  }
  const app = (name: string, state: 'active' | 'suspended', providerId = ids.provider) =>
    db.app.create({ data: { id: name, name, teamId: ids.team, providerId, state } })
  const [doomedApp, suspendedApp, foreignApp, ruledApp, elsewhere] = [
    id('doomed'),
    `suspended-${ids.app}`,
    id('app'),
    id('ruled'),
    id('other'),
  ]
  await db.organisation.create({ data: { id: elsewhere, kind: 'provider', name: 'Elsewhere' } })
  await Promise.all([app(suspendedApp, 'suspended'), app(doomedApp, 'active'), app(foreignApp, 'active', elsewhere)])
  await app(ruledApp, 'active')
  await db.collectionRule.create({ data: { appId: ruledApp, collection: 'c', rule: 'app' } })
  await createQuizzes(world)
  await createCard(world)
  const [hobby, exhausted, noApp, doomed, suspended, foreign, ruled] = await Promise.all([
    client('hobby'),
    client('hobby'),
    client('developer'),
    client('developer', doomedApp),
    client('developer', suspendedApp),
    client('developer', foreignApp),
    client('developer', ruledApp),
  ])
  for (let calls = 0; calls < 60; calls++) await world.call('GET', '/', { claims: { client_id: exhausted } })
  const guesser = { 'x-forwarded-for': '203.0.113.7' }
  for (let calls = 0; calls < 100; calls++) await world.call('GET', '/', { token: 'guessed', headers: guesser })
  const server = await mintAppServer(world)
  await consentTo(world, { client: doomed })
  const full = await mintAppServer(world)
  const rules = Array.from({ length: 100 }, (_, n) => ({ appId: full.app, collection: `c${n}`, rule: 'author' }))
  await db.collectionRule.createMany({ data: rules })
  return {
    world,
    server: server.claims,
    full: full.claims,
    hobby,
    noApp,
    exhausted,
    suspended,
    foreign,
    ruled,
    guesser,
    doomed,
    doomedApp,
  }
}

/** A service whose database can lose its tables, and then itself. */
export async function startFailing(atEnd: AtEnd) {
  const databaseUrl = await migratedDatabase(atEnd)
  const world = await startWorld({ databaseUrl })
  atEnd(() => world.close())
  const ids = await createTenant(world.db)
  const { club, academy, provider, client, member } = ids
  const { claims: ofApp } = await mintAppServer({ ...world, ids })
  const organisation = { apps: club, lms: academy, notify: provider }
  const claims = (tokens: TokenSection, client_id = client) => ({
    sub: member,
    client_id,
    organisation: organisation[tokens],
  })
  await world.call('GET', '/me/profile', { claims: claims('apps') })
  await world.call('POST', '/quizzes/none/results', { claims: claims('lms'), body: { answers: {} } })
  await world.call('GET', '/apps/none/webhook', { claims: claims('notify') })
  await world.call('GET', '/collections', { claims: { ...claims('apps'), ...ofApp } })
  // A verified token stays known, however long the rest takes.
  world.advance(-600)
  return {
    world,
    claims,
    ofApp,
    loseTables: () => query(databaseUrl, 'ALTER SCHEMA public RENAME TO gone'),
    loseDatabase: () =>
      query(inject('databaseUrl'), `DROP DATABASE ${new URL(databaseUrl).pathname.slice(1)} WITH (FORCE)`),
  }
}

/** A port that does not wait long for the head of a request: its refusals come from Node's parser. */
export async function startImpatient(atEnd: AtEnd) {
  const { port, close } = await listen({ callback: () => () => {} }, 0, { headers: corsHeaders, headMs: 100 })
  atEnd(() => close(0))
  return port
}

import { storageScopes } from '../../routers/kernel/scopes.ts'
import { mintApp } from './platform.ts'
import { id } from './tenant.ts'
import type { World } from './world.ts'

type Tenant = Pick<World, 'db' | 'ids' | 'now'>

/** With the demo data: Anna allows the trainer app its storage, so that its server may use it. */
export const demoConsent = {
  id: 'demo',
  personId: 'anna',
  organisationId: 'riverside',
  clientId: 'trainer-app',
  scopes: [...storageScopes],
}

interface Consented {
  client: string
  member?: string
  club?: string
  scopes?: string[]
  /** Unix milliseconds. */
  at?: number
}

/** A member consents to a client's use of the storage, by default the tenant's member in the tenant's club. Returns its id. */
export async function consentTo({ db, ids, now }: Tenant, { client: clientId, at = now() * 1000, ...more }: Consented) {
  const { member: personId = ids.member, club: organisationId = ids.club, scopes = [...storageScopes] } = more
  const of = { clientId, personId, organisationId, scopes, createdAt: new Date(at) }
  return (await db.consent.create({ data: { id: id('consent'), ...of } })).id
}

/**
 * By default a new app of the tenant's team, whose storage the tenant's member allows; and the claims of a token of the app
 * itself.
 */
export async function mintAppServer(world: Tenant, appId?: string) {
  const { db, ids } = world
  const [app, client, scopes] = [appId ?? (await mintApp(world)), id('server'), [...storageScopes]]
  const of = { teamId: ids.team, appId: app, environment: 'production' as const, scopes }
  await db.client.create({ data: { id: client, name: 'Server', ...of } })
  const consent = await consentTo(world, { client })
  return { app, client, consent, claims: { client_id: client, sub: undefined, scope: scopes.join(' ') } }
}

/** Creates a person who is a member of a club, by default the tenant's. */
export async function mintMember({ db, ids }: Pick<Tenant, 'db' | 'ids'>, organisationId = ids.club) {
  const person = id('person')
  const memberships = { create: { organisationId } }
  await db.person.create({ data: { id: person, firstName: 'N', lastName: 'N', email: '', memberships } })
  return person
}

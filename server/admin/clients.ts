import { DbNull } from '@prisma/client-runtime-utils'
import type { Database, Transaction } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { statement } from '../../prisma/pg/statement.ts'
import { lockTeam } from '../../routers/developer/access/roles.ts'
import type { Note } from '../../routers/developer/audit/record.ts'
import { auditing } from '../../routers/developer/audit/record.ts'
import { removeClientIn, removeMostConsents } from '../../routers/developer/clients/removal.ts'
import { changesColumns } from '../../routers/developer/reviews/stored.ts'
import { findHostId, isDocumentAddress } from '../../routers/developer/shared/document-address.ts'
import type { FirstPartyRegistration, Registration } from '../../routers/developer/shared/registration.ts'
import {
  findFaults,
  firstAlgorithm,
  firstPartyFaults,
  isForDevelopment,
  levelFaults,
  logoutFaults,
} from '../../routers/developer/shared/registration.ts'
import type { Fault } from '../../routers/developer/shared/validation.ts'
import { formatSentence } from '../../routers/developer/shared/validation.ts'
import { addTestClub } from '../../routers/developer/test-club/add.ts'
import type { Level } from '../../routers/kernel/scopes.ts'

/** Carries a sentence for each reason. Nothing has been changed. */
export class RegistrationRefused extends Error {}

const LOCK = 5_208_319_417
const lock = statement('client_registration_lock', `SELECT FROM pg_advisory_xact_lock(${LOCK})`, {}, {})

export async function register(
  db: Database,
  registration: Registration,
  { replace, development }: { replace: boolean; development: boolean },
): Promise<'added' | 'replaced'> {
  const allowsLocalhost = development || isForDevelopment(registration)
  refuseIf(findFaults(registration, allowsLocalhost))
  const author = byOperator()
  return auditing(db, author, async (tx, note) => {
    const before = await replaceable(tx, registration.id, registration.team.id, replace)
    if (before && before.authentication !== 'none' && registration.type !== 'web') {
      refuse(`The client ${registration.id} authenticates, which only a web client can do.`)
    }
    const level = await teamLevel(tx, note, registration.team)
    refuseIf(levelFaults(registration.scopes, level))
    if (registration.app) await findApp(tx, note, registration.app, registration.team.id)
    if (registration.environment === 'sandbox') {
      await lockTeam(tx, registration.team.id)
      const team = await tx.team.findUniqueOrThrow({ where: { id: registration.team.id } })
      await addTestClub(tx, team, { app: registration.app?.id ?? null, now: author.at })
    }
    const { id, name, type, environment, redirectUris, scopes } = registration
    const algorithm = firstAlgorithm(scopes, before?.scopes ?? [], registration.idTokenAlgorithm)
    // An existing one may no longer be beside a redirect URI.
    const logouts =
      registration.postLogoutRedirectUris ??
      (before?.postLogoutRedirectUris ?? []).filter(
        (uri) => logoutFaults([uri], redirectUris, type, allowsLocalhost).length === 0,
      )
    const data = {
      name,
      type,
      environment,
      teamId: registration.team.id,
      appId: registration.app?.id ?? null,
      redirectUris: [...new Set(redirectUris)],
      postLogoutRedirectUris: [...new Set(logouts)],
      ...(algorithm && { idTokenAlgorithm: algorithm }),
      devices: registration.devices ?? false,
      scopes: [...new Set(scopes)],
    }
    // The operator decides: a pending request is thereby answered.
    const update = {
      ...data,
      state: 'active' as const,
      testOnly: false,
      ...changesColumns(),
    }
    await tx.client.upsert({ where: { id }, create: { id, ...data }, update, select: { id: true } })
    const { teamId, appId, ...after } = data
    const action = before ? 'client.replace' : 'client.create'
    await note({ team: teamId, action, target: id, after: { app: appId, ...after } })
    return before ? 'replaced' : 'added'
  })
}

/**
 * Registers a first-party client: no team, app or rate limit, and no consent needed. Replacing a client sets the given
 * credentials only; without any, it keeps its own.
 */
export async function registerFirstParty(db: Database, registration: FirstPartyRegistration, replace: boolean) {
  refuseIf(firstPartyFaults(registration))
  const { id, name, credentials } = registration
  const data = {
    name,
    scopes: [...new Set(registration.scopes)],
    ...(credentials && { secretHash: null, jwks: DbNull, ...credentials }),
  }
  return db.$transaction(async (tx) => {
    const before = await replaceable(tx, id, null, replace)
    await tx.client.upsert({
      where: { id },
      create: { id, environment: 'production', redirectUris: [], ...data },
      update: data,
      select: { id: true },
    })
    return before ? 'replaced' : 'added'
  })
}

/** Takes the lock. Returns the existing client with the id if it may be replaced. */
async function replaceable(tx: Transaction, id: string, teamId: string | null, replace: boolean) {
  await executeIn(tx, lock, {})
  const before = await tx.client.findUnique({ where: { id } })
  if (before && !replace) refuse(`The client ${id} already exists; --replace changes it.`)
  // Its consents were given to this team: another team would inherit them.
  if (before && before.teamId !== teamId) refuse(ownedBy(before))
  return before
}

const ownedBy = ({ id, teamId }: { id: string; teamId: string | null }) =>
  teamId === null ? `The client ${id} belongs to the platform.` : `The client ${id} belongs to the team ${teamId}.`

async function teamLevel(tx: Transaction, note: Note, { id, name, level }: Registration['team']): Promise<Level> {
  const team = await tx.team.findUnique({ where: { id } })
  if (!team) {
    if (!name || !level) refuse(`Team ${id} does not exist; --team-name and --level create it.`)
    await tx.team.create({ data: { id, name, level }, select: { id: true } })
    await note({ team: id, action: 'team.create', target: id, after: { name, level } })
    return level
  }
  if (differs(team.name, name) || differs(team.level, level)) {
    refuse(`The team ${id} already exists, with the name "${team.name}" and level ${team.level}.`)
  }
  return team.level
}

async function findApp(
  tx: Transaction,
  note: Note,
  { id, name, provider }: NonNullable<Registration['app']>,
  teamId: string,
) {
  const app = await tx.app.findUnique({ where: { id }, omit: { logo: true, wantedLogo: true } })
  if (!app) {
    if (!name || !provider) refuse(`App ${id} does not exist; --app-name and --provider create it.`)
    const found = await tx.organisation.findUnique({ where: { id: provider, kind: 'provider', testTeamId: null } })
    if (!found) refuse(`Provider ${provider} does not exist.`)
    await tx.app.create({ data: { id, name, teamId, providerId: provider }, select: { id: true } })
    await note({ team: teamId, action: 'app.create', target: id, after: { name, provider } })
    return
  }
  if (app.teamId !== teamId) refuse(`The app ${id} belongs to the team ${app.teamId}.`)
  if (differs(app.name, name) || differs(app.providerId ?? '', provider)) {
    refuse(`The app ${id} already exists, with the name "${app.name}" and the provider ${app.providerId}.`)
  }
}

/** A repeated command gives the same attributes again. */
const differs = (is: string, said: string | undefined) => said !== undefined && said !== is

function refuseIf(faults: readonly Fault[]) {
  if (faults.length > 0) refuse(faults.map(formatSentence).join('\n'))
}

function refuse(sentences: string): never {
  throw new RegistrationRefused(sentences)
}

export const listClients = (db: Database, team: string | undefined) =>
  db.client.findMany({
    where: team === undefined ? {} : { teamId: team },
    include: { team: { select: { level: true } } },
    orderBy: [{ teamId: 'asc' }, { id: 'asc' }],
  })

/** Null if the client does not exist; counts consents in force. */
export const clientWithConsents = (db: Database, id: string) =>
  db.client.findUnique({
    where: { id },
    select: { id: true, appId: true, _count: { select: { consents: { where: { withdrawnAt: null } } } } },
  })

/**
 * Removes a client, whose id may be registered again. Where a document describes it, the app of the document's host is suspended.
 * Returns the number of consents that were in force; null for an unknown client.
 */
export async function removeClient(db: Database, id: string): Promise<number | null> {
  const earlier = await removeMostConsents(db, id, 0)
  return auditing(db, byOperator(), async (tx, note) => {
    const client = await tx.client.findUnique({ where: { id }, select: { teamId: true, name: true } })
    const rest = await removeClientIn(tx, id)
    const consents = rest === null ? null : earlier + rest
    // The document is still there.
    if (isDocumentAddress(id)) await suspendHost(tx, note, findHostId(id))
    if (client?.teamId && consents !== null) {
      const before = { name: client.name, consents }
      await note({ team: client.teamId, action: 'client.remove', target: id, before })
    }
    return consents
  })
}

async function suspendHost(tx: Transaction, note: Note, id: string) {
  const { count } = await tx.app.updateMany({ where: { id, state: 'active' }, data: { state: 'suspended' } })
  if (count === 0) return
  await note({ team: id, action: 'app.update', target: id, before: { state: 'active' }, after: { state: 'suspended' } })
}

const byOperator = () => ({ person: null, at: new Date() })

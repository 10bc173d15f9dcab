import type { Database, Transaction } from '../../prisma/client.ts'
import type { Level } from '../../routers/scopes.ts'
import type { Registration } from './registration.ts'
import { faultsOf, levelFaults, nameFaults } from './registration.ts'

/** Why a registration is refused, in sentences; nothing was changed. */
export class RegistrationRefused extends Error {}

/** Of two that register at once, one waits: each sees whole what the other has made. */
const LOCK = 5_208_319_417

/** Registers a client, with its team and app where these are new: all of it, or nothing. */
export async function register(
  db: Database,
  wish: Registration,
  { replace, development }: { replace: boolean; development: boolean },
): Promise<'added' | 'replaced'> {
  refuseIf(faultsOf(wish, development))
  return db.$transaction(async (tx) => {
    const before = await replaceable(tx, wish.id, wish.team.id, replace)
    const level = await teamLevel(tx, wish.team)
    refuseIf(levelFaults(wish.scopes, level))
    if (wish.app) await findApp(tx, wish.app, wish.team.id)
    const { id, name, type, environment } = wish
    const data = {
      ...{ name, type, environment, teamId: wish.team.id, appId: wish.app?.id ?? null },
      redirectUris: [...new Set(wish.redirectUris)],
      scopes: [...new Set(wish.scopes)],
    }
    await tx.client.upsert({ where: { id }, create: { id, ...data }, update: data })
    return before ? 'replaced' : 'added'
  })
}

/** Registers a client of the platform itself, which has no team, no app, no limit, and asks no member for consent. */
export async function registerFirstParty(db: Database, { id, name }: { id: string; name: string }, replace: boolean) {
  refuseIf(nameFaults('client', { id, name }))
  return db.$transaction(async (tx) => {
    const before = await replaceable(tx, id, null, replace)
    await tx.client.upsert({
      where: { id },
      create: { id, name, environment: 'production', redirectUris: [], scopes: [] },
      update: { name },
    })
    return before ? 'replaced' : 'added'
  })
}

/** The client that has the id by now, where it may be replaced; held against others that register. */
async function replaceable(tx: Transaction, id: string, teamId: string | null, replace: boolean) {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${LOCK})`
  const before = await tx.client.findUnique({ where: { id } })
  if (before && !replace) refuse(`There is a client ${id} already; --replace changes it.`)
  // Members have allowed it to this team; another one would inherit what it was not given.
  if (before && before.teamId !== teamId) refuse(ownedBy(before))
  return before
}

const ownedBy = ({ id, teamId }: { id: string; teamId: string | null }) =>
  teamId === null ? `The client ${id} belongs to the platform.` : `The client ${id} belongs to the team ${teamId}.`

/** Of the team that exists, or of the one that is made. */
async function teamLevel(tx: Transaction, { id, name, level }: Registration['team']): Promise<Level> {
  const team = await tx.team.findUnique({ where: { id } })
  if (!team) {
    if (!name || !level) refuse(`There is no team ${id}: with --team-name and --level it is made.`)
    await tx.team.create({ data: { id, name, level } })
    return level
  }
  if (differs(team.name, name) || differs(team.level, level)) {
    refuse(`There is a team ${id} already, with the name "${team.name}" and level ${team.level}.`)
  }
  return team.level
}

async function findApp(tx: Transaction, { id, name, provider }: NonNullable<Registration['app']>, teamId: string) {
  const app = await tx.app.findUnique({ where: { id } })
  if (!app) {
    if (!name || !provider) refuse(`There is no app ${id}: with --app-name and --provider it is made.`)
    const found = await tx.organisation.findUnique({ where: { id: provider, kind: 'provider' } })
    if (!found) refuse(`There is no provider ${provider}.`)
    await tx.app.create({ data: { id, name, teamId, providerId: provider } })
    return
  }
  if (app.teamId !== teamId) refuse(`The app ${id} belongs to the team ${app.teamId}.`)
  if (differs(app.name, name) || differs(app.providerId, provider)) {
    refuse(`There is an app ${id} already, with the name "${app.name}" and of the provider ${app.providerId}.`)
  }
}

/** Whether what was said of something that exists is not so; a command that is repeated says it again. */
const differs = (is: string, said: string | undefined) => said !== undefined && said !== is

function refuseIf(sentences: readonly string[]) {
  if (sentences.length > 0) refuse(sentences.join('\n'))
}

function refuse(sentences: string): never {
  throw new RegistrationRefused(sentences)
}

/** The clients, of one team or of all, by team and id. */
export const listClients = (db: Database, team: string | undefined) =>
  db.client.findMany({
    where: team === undefined ? {} : { teamId: team },
    include: { team: { select: { level: true } } },
    orderBy: [{ teamId: 'asc' }, { id: 'asc' }],
  })

/** A client, and how many consents are in force for it; null: there is none. */
export const clientWithConsents = (db: Database, id: string) =>
  db.client.findUnique({
    where: { id },
    select: { id: true, appId: true, _count: { select: { consents: { where: { withdrawnAt: null } } } } },
  })

/**
 * Removes a client and what members have allowed it, also what the authorization server keeps of that, as somebody may
 * register the id again. The number of consents that went, null when there was no such client.
 */
export const removeClient = (db: Database, id: string): Promise<number | null> =>
  db.$transaction(async (tx) => {
    // Held against consents that would be added meanwhile.
    const [client] = await tx.$queryRaw<unknown[]>`SELECT id FROM "Client" WHERE id = ${id} FOR UPDATE`
    if (!client) return null
    const consents = await tx.consent.findMany({ where: { clientId: id }, select: { id: true, withdrawnAt: true } })
    const grants = consents.map((consent) => consent.id)
    await tx.$executeRaw`DELETE FROM "OauthRecord" WHERE "grantId" = ANY (${grants})`
    await tx.client.delete({ where: { id } })
    return consents.filter(({ withdrawnAt }) => withdrawnAt === null).length
  })

import { DbNull } from '@prisma/client-runtime-utils'
import type { Database, Transaction } from '../../../prisma/client.ts'
import type { Prisma } from '../../../prisma/generated/client.ts'
import { toUnix } from '../../kernel/time.ts'
import { lockTeam } from '../access/roles.ts'
import { auditing } from '../audit/record.ts'
import { queueMails } from '../mails/queue.ts'
import type { WantedOfApp, WantedOfClient } from '../shared/mappers.ts'
import { toState } from '../shared/mappers.ts'
import { changesColumns, readChanges, readClient } from './stored.ts'
import type { Review } from './transitions.ts'
import { stateAfter } from './transitions.ts'

/** A pending request as the operator reads it: a new client, or changes to a client or an app. */
export interface PendingReview {
  id: string
  kind: 'client' | 'app'
  name: string
  team: string
  version: number
  /** For a new client, all its attributes. */
  asked: WantedOfClient | WantedOfApp
  isNew: boolean
  /** The attributes of the client's app that members see; null without an app. */
  app: AppRead | null
}

interface AppRead {
  id: string
  version: number
  name: string
  description: string | null
  homepage: string | null
}

const waitingClient = {
  teamId: { not: null },
  OR: [{ state: 'requested' as const, requestedAt: { not: null } }, { wanted: { not: DbNull } }],
}
const waitingApp = { wanted: { not: DbNull } }
const appColumns = { id: true, name: true, teamId: true, version: true, wanted: true, refusal: true } as const

const readColumns = { id: true, version: true, name: true, description: true, homepage: true } as const
const withApp = { app: { select: readColumns } } as const

type Client = Prisma.ClientGetPayload<{ include: typeof withApp }>
type App = Prisma.AppGetPayload<{ select: typeof appColumns }>

const pendingClient = ({ id, teamId, version, state, wanted, app, ...client }: Client): PendingReview => ({
  id,
  kind: 'client',
  name: client.name,
  team: teamId!,
  version,
  isNew: state === 'requested',
  app,
  asked: state === 'requested' ? newClient(client) : (wanted as WantedOfClient),
})
const newClient = ({
  name,
  redirectUris,
  devices,
  scopes,
  purpose,
}: Pick<Client, 'name' | 'redirectUris' | 'devices' | 'scopes' | 'purpose'>): WantedOfClient => ({
  name,
  redirectUris,
  ...(devices && { devices }),
  scopes,
  purpose: (purpose ?? {}) as Record<string, string>,
})
const pendingApp = ({ id, name, teamId, version, wanted }: App): PendingReview => ({
  id,
  kind: 'app',
  name,
  team: teamId,
  version,
  isNew: false,
  app: null,
  asked: wanted as WantedOfApp,
})

export async function listReviews(db: Database): Promise<PendingReview[]> {
  const orderBy = [{ requestedAt: 'asc' as const }, { id: 'asc' as const }]
  const clients = await db.client.findMany({ where: waitingClient, orderBy, include: withApp })
  const apps = await db.app.findMany({ where: waitingApp, select: appColumns, orderBy: { id: 'asc' } })
  return [...clients.map(pendingClient), ...apps.map(pendingApp)]
}

export interface Subject {
  kind: 'client' | 'app'
  id: string
}

/** The versions that the operator has read: newer ones are not decided on. */
interface Read {
  version: number
  appVersion?: number | undefined
}

/** Throws when nothing is pending, or when it differs from what was read. */
export const approve = (db: Database, { version, appVersion, ...subject }: Subject & Read, at: Date) =>
  decide(db, subject, at, 'approve', (tx, review) => {
    refuseOther(review, version)
    if (review.app && appVersion === undefined) {
      throw new Error(`The client ${review.id} has the app ${review.app.id}: --app-version is required as well.`)
    }
    if (review.app) refuseOther({ kind: 'app', ...review.app }, appVersion!)
    return apply(tx, review)
  })

/** Ends the request. The team finds the reason beside what it asked for, and may ask again. */
export const refuse = (
  db: Database,
  { version, ...subject }: Subject & { version?: number | undefined },
  reason: string,
  at: Date,
) =>
  decide(
    db,
    subject,
    at,
    'refuse',
    (tx, review) => {
      if (version !== undefined) refuseOther(review, version)
      return drop(tx, review, { reason, at: toUnix(at) })
    },
    { reason },
  )

function refuseOther({ kind, id, version }: Pick<PendingReview, 'kind' | 'id' | 'version'>, read: number) {
  if (version === read) return
  throw new Error(`The ${kind} ${id} has changed and now has version ${version}. Read it again.`)
}

async function decide(
  db: Database,
  { kind, id }: Subject,
  at: Date,
  act: 'approve' | 'refuse',
  change: (tx: Transaction, review: PendingReview) => Promise<unknown>,
  more: { reason?: string } = {},
): Promise<PendingReview> {
  return auditing(db, { person: null, at }, async (tx, note) => {
    const where = { where: { id }, select: { teamId: true } }
    const owned = kind === 'client' ? await tx.client.findUnique(where) : await tx.app.findUnique(where)
    if (owned?.teamId) await lockTeam(tx, owned.teamId)
    const found = await find(tx, kind, id)
    if (!found || !stateAfter(found.review, act)) throw new Error(`The ${kind} ${id} has nothing pending approval.`)
    const { pending } = found
    await change(tx, pending)
    await note({ team: pending.team, action: `${kind}.${act}`, target: id, after: { ...pending.asked, ...more } })
    const about = { [kind]: id, name: pending.name, isNew: pending.isNew, ...more }
    const mail = { approve: 'requestApproved', refuse: 'requestRefused' } as const
    await queueMails(tx, { kind: mail[act], team: pending.team, to: 'owners', about, at })
    return pending
  })
}

interface Found {
  review: Review
  pending: PendingReview
}

async function find(tx: Transaction, kind: Subject['kind'], id: string): Promise<Found | null> {
  if (kind === 'client') {
    const client = await tx.client.findFirst({ where: { id, teamId: { not: null } }, include: withApp })
    return client && { review: readClient({ ...client, state: toState(client) }), pending: pendingClient(client) }
  }
  const app = await tx.app.findUnique({ where: { id }, select: appColumns })
  return app && { review: readChanges(app), pending: pendingApp(app) }
}

async function apply(tx: Transaction, { kind, id, isNew, asked }: PendingReview) {
  if (kind === 'app') return applyToApp(tx, id, asked as WantedOfApp)
  const data = isNew ? { state: 'active' as const, requestedAt: null } : (asked as WantedOfClient)
  return tx.client.update({ where: { id }, data: { ...data, ...changesColumns() } })
}

async function applyToApp(tx: Transaction, id: string, { logo, ...asked }: WantedOfApp) {
  const { wantedLogo } = await tx.app.findUniqueOrThrow({ where: { id }, select: { wantedLogo: true } })
  const data = { ...asked, ...(logo !== undefined && { logo: wantedLogo }), ...changesColumns(), wantedLogo: null }
  return tx.app.update({ where: { id }, data, select: { id: true } })
}

function drop(tx: Transaction, { kind, id, isNew, asked }: PendingReview, why: { reason: string; at: number }) {
  const columns = changesColumns({ refusal: { ...why, asked: isNew ? {} : asked } })
  if (kind === 'app')
    return tx.app.update({ where: { id }, data: { ...columns, wantedLogo: null }, select: { id: true } })
  return tx.client.update({ where: { id }, data: { ...columns, ...(isNew && { requestedAt: null }) } })
}

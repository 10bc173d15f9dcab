import { DbNull } from '@prisma/client-runtime-utils'
import type { Database, Transaction } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'
import { lockTeam } from '../../routers/developer/access/roles.ts'
import { auditing } from '../../routers/developer/audit/record.ts'
import { queueMails } from '../../routers/developer/mails/queue.ts'
import type { WantedOfApp, WantedOfClient } from '../../routers/developer/shared/mappers.ts'
import { toUnix } from '../../routers/kernel/time.ts'

/** A pending request: a new client, or changes to a client or an app. */
export interface Review {
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
const appColumns = { id: true, name: true, teamId: true, version: true, wanted: true } as const

const readColumns = { id: true, version: true, name: true, description: true, homepage: true } as const
const withApp = { app: { select: readColumns } } as const

type Client = Prisma.ClientGetPayload<{ include: typeof withApp }>
type App = Prisma.AppGetPayload<{ select: typeof appColumns }>

const ofClient = ({ id, teamId, version, state, wanted, app, ...client }: Client): Review => ({
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
const ofApp = ({ id, name, teamId, version, wanted }: App): Review => ({
  id,
  kind: 'app',
  name,
  team: teamId,
  version,
  isNew: false,
  app: null,
  asked: wanted as WantedOfApp,
})

export async function listReviews(db: Database): Promise<Review[]> {
  const orderBy = [{ requestedAt: 'asc' as const }, { id: 'asc' as const }]
  const clients = await db.client.findMany({ where: waitingClient, orderBy, include: withApp })
  const apps = await db.app.findMany({ where: waitingApp, select: appColumns, orderBy: { id: 'asc' } })
  return [...clients.map(ofClient), ...apps.map(ofApp)]
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

function refuseOther({ kind, id, version }: Pick<Review, 'kind' | 'id' | 'version'>, read: number) {
  if (version === read) return
  throw new Error(`The ${kind} ${id} has changed and now has version ${version}. Read it again.`)
}

async function decide(
  db: Database,
  { kind, id }: Subject,
  at: Date,
  verb: 'approve' | 'refuse',
  change: (tx: Transaction, review: Review) => Promise<unknown>,
  more: object = {},
): Promise<Review> {
  return auditing(db, { person: null, at }, async (tx, note) => {
    const where = { where: { id }, select: { teamId: true } }
    const found = kind === 'client' ? await tx.client.findUnique(where) : await tx.app.findUnique(where)
    if (found?.teamId) await lockTeam(tx, found.teamId)
    const review = await find(tx, kind, id)
    if (!review) throw new Error(`The ${kind} ${id} has nothing pending approval.`)
    await change(tx, review)
    await note({ team: review.team, action: `${kind}.${verb}`, target: id, after: { ...review.asked, ...more } })
    const about = { [kind]: id, name: review.name, isNew: review.isNew, ...more }
    const mail = { approve: 'requestApproved', refuse: 'requestRefused' } as const
    await queueMails(tx, { kind: mail[verb], team: review.team, to: 'owners', about, at })
    return review
  })
}

async function find(tx: Transaction, kind: Subject['kind'], id: string): Promise<Review | null> {
  if (kind === 'client') {
    const client = await tx.client.findFirst({ where: { id, ...waitingClient }, include: withApp })
    return client && ofClient(client)
  }
  const app = await tx.app.findFirst({ where: { id, ...waitingApp }, select: appColumns })
  return app && ofApp(app)
}

const next = { wanted: DbNull, refusal: DbNull, version: { increment: 1 } }

const nextApp = { ...next, wantedLogo: null }

async function apply(tx: Transaction, { kind, id, isNew, asked }: Review) {
  if (kind === 'app') return applyToApp(tx, id, asked as WantedOfApp)
  const data = isNew ? { state: 'active' as const, requestedAt: null } : (asked as WantedOfClient)
  return tx.client.update({ where: { id }, data: { ...data, ...next } })
}

async function applyToApp(tx: Transaction, id: string, { logo, ...asked }: WantedOfApp) {
  const { wantedLogo } = await tx.app.findUniqueOrThrow({ where: { id }, select: { wantedLogo: true } })
  const data = { ...asked, ...(logo !== undefined && { logo: wantedLogo }), ...nextApp }
  return tx.app.update({ where: { id }, data, select: { id: true } })
}

function drop(tx: Transaction, { kind, id, isNew, asked }: Review, why: { reason: string; at: number }) {
  const refusal = { ...why, asked: isNew ? {} : asked } as unknown as Prisma.InputJsonObject
  if (kind === 'app') return tx.app.update({ where: { id }, data: { ...nextApp, refusal }, select: { id: true } })
  return tx.client.update({ where: { id }, data: { ...next, refusal, ...(isNew && { requestedAt: null }) } })
}

import type { Database, Transaction } from '../../../prisma/client.ts'
import { findHostId } from '../../../routers/developer/shared/document-address.ts'
import type { AppView } from '../../browser/pages/views.ts'

/** A client that its document describes. */
export interface DocumentClient {
  /** The address of the document. */
  id: string
  name: string
  scopes: string[]
}

/** What members see of it: nobody but the host of its document vouches for it. */
export const documentView = (id: string, name?: string): AppView => {
  const { host } = new URL(id)
  return { name: name ?? host, team: host, vouched: true }
}

/**
 * The rows that consents, tokens and limits refer to: the host as a team of the Hobby level with one app, and the client. Redirect
 * URIs stay in the document. Called when a member allows the client, or asks their club to; the row of the team is locked.
 */
export async function storeDocumentClient(tx: Transaction | Database, { id, name, scopes }: DocumentClient) {
  const hostId = findHostId(id)
  const { host } = new URL(id)
  const select = { id: true }
  // Each is one statement with ON CONFLICT, as several members may be the first.
  const team = { id: hostId, name: host, level: 'hobby' as const }
  await tx.team.upsert({ where: { id: hostId }, create: team, update: { endsAt: null }, select })
  const app = { id: hostId, name: host, teamId: hostId }
  await tx.app.upsert({ where: { id: hostId }, create: app, update: { name: host }, select })
  const client = { name, scopes, teamId: hostId, appId: hostId }
  const create = { id, environment: 'production' as const, ...client }
  await tx.client.upsert({ where: { id }, create, update: client, select })
}

/** Whether the operator has suspended the app of a document's host, which its documents cannot undo. */
export const isHostSuspended = async (db: Database, address: string) =>
  (await db.app.count({ where: { id: findHostId(address), state: 'suspended' } })) > 0

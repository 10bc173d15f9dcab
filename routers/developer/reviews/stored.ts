import type { Transaction } from '../../../prisma/client.ts'
import { queueReceived } from '../mails/queue.ts'
import type { toClient } from '../shared/mappers.ts'
import { objectOrNull } from '../shared/mappers.ts'
import type { Review } from './transitions.ts'

/** The columns of a client or an app that say what is asked for, and why it was refused. */
interface Columns {
  wanted: unknown
  refusal: unknown
}

export type ClientColumns = Columns & Pick<ReturnType<typeof toClient>, 'environment' | 'state'>

export function readChanges({ wanted, refusal }: Columns): Review {
  return { covers: 'changes', state: wanted ? 'requested' : refusal ? 'refused' : 'approved' }
}

/** A person's request for a team: none is left of one that was approved or withdrawn. */
export const readTeamRequest = (request: { state: 'requested' | 'refused' } | null): Review => ({
  covers: 'team',
  state: request?.state ?? 'unasked',
})

/** A client that was never approved is reviewed as a whole. */
export function readClient({ state, ...columns }: ClientColumns): Review {
  return state === 'active' ? readChanges(columns) : { covers: 'client', state }
}

/** The review of the client itself, whatever changes of it are pending. Of a sandbox client, nobody has asked for production. */
export function readProduction({ environment, state }: Omit<ClientColumns, keyof Columns>): Review {
  if (state !== 'active') return { covers: 'client', state }
  return { covers: 'client', state: environment === 'sandbox' ? 'unasked' : 'approved' }
}

/** Whether nobody can sign in with a client yet: it was never approved. */
export const isPending = ({ state }: { state: 'active' | 'requested' }) => state !== 'active'

/** The columns of changes after an act: both empty once they are approved or withdrawn. */
export const changesColumns = ({ wanted = {}, refusal = {} }: { wanted?: object; refusal?: object } = {}) => ({
  wanted: objectOrNull(wanted),
  refusal: objectOrNull(refusal),
  version: { increment: 1 },
})

interface Asked {
  name: string
  client?: string
  app?: string
}

/** Mails that a request waits: once, however often the team changes it. */
export async function queueIfRequested(
  tx: Transaction,
  by: { team: string; at: Date },
  { before, after }: Record<'before' | 'after', Columns>,
  about: Asked,
) {
  const isRequested = (columns: Columns) => readChanges(columns).state === 'requested'
  if (!isRequested(before) && isRequested(after)) await queueReceived(tx, by, about)
}

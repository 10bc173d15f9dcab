import { randomBytes, randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { Transaction } from '../../../prisma/client.ts'
import type { Core } from '../../kernel/context.ts'
import { retryingDeadlocks } from '../../kernel/database-errors.ts'
import { errors } from '../../kernel/errors.ts'
import { seal } from '../../kernel/secrets-key.ts'
import { endIfBusy, removeMostDeliveries } from '../../webhooks/removal.ts'
import { requireSameOrigin } from '../../webhooks/rules.ts'
import { columnsOfSubscription, formerBeside } from '../../webhooks/stored-secrets.ts'
import type { Author, Change } from '../audit/record.ts'
import { auditing, refuseBeyond } from '../audit/record.ts'
import type { settings, state } from './address.ts'
import type { Of } from './stored.ts'
import { findAddress } from './stored.ts'

/** For each environment of an app. */
const MAX_ADDRESSES = 10

/** Who changes addresses of an app: a person of its team, or its client in one environment. */
export interface Changer extends Of {
  core: Core
  team: string
  author: Author
  /** Serialises the changes of an app. Throws 409 for a suspended one. */
  lock: (tx: Transaction) => Promise<unknown>
}

type Settings = z.infer<typeof settings>
type Changes = { [Name in keyof Settings]?: Settings[Name] | undefined } & {
  state?: z.infer<typeof state> | undefined
  /** As it was read; undefined for whatever is stored. */
  etag?: string | undefined
}
type Row = Awaited<ReturnType<typeof findAddress>>

/** Returns the new address with its secret, which is generated where none is given. */
export async function createAddress(
  { core, team, author, lock, app }: Changer,
  {
    environment,
    url,
    types,
    secret = `whsec_${randomBytes(32).toString('base64')}`,
  }: Settings & Pick<Row, 'environment'>,
) {
  const id = randomUUID()
  const sealed = await seal(core, secret, columnsOfSubscription(id).secret)
  return auditing(core.db, author, async (tx, note) => {
    await lock(tx)
    const of = { appId: app, address: true, test: environment === 'sandbox' }
    if ((await tx.subscription.count({ where: of })) >= MAX_ADDRESSES) throw errors.tooManyAddresses()
    const own = { id, subscriber: 'address', url, types: toStored(types), secret: sealed, createdAt: author.at }
    await tx.subscription.create({ data: { ...of, ...own }, select: { id: true } })
    const made = await findAddress(tx, { app, environment }, id)
    await note({ team, action: 'address.create', target: app, after: toNote(made) })
    return { ...made, secret }
  })
}

/** Changes what is given. Throws 409 for another `etag`. A replaced secret signs beside the new one for 24 hours. */
export async function updateAddress({ core, team, author, lock, ...of }: Changer, id: string, changes: Changes) {
  const { url, types, secret, state, etag } = changes
  const columns = columnsOfSubscription(id)
  const sealed = secret === undefined ? null : await seal(core, secret, columns.secret)
  return auditing(core.db, author, async (tx, note) => {
    await lock(tx)
    const before = await findAddress(tx, of, id)
    if (etag !== undefined && etag !== before.etag) throw errors.changedMeanwhile()
    const stored = await tx.subscription.findUniqueOrThrow({ where: { id }, select: { secret: true } })
    if (secret === undefined && stored.secret === null) throw errors.secretInvalid()
    if (secret === undefined && url !== undefined) requireSameOrigin(before.url, url)
    const former = secret === undefined ? undefined : formerBeside(core, columns, stored.secret, secret)
    const data = {
      ...(url !== undefined && { url }),
      ...(types !== undefined && { types: toStored(types) }),
      ...(former && { secret: sealed, ...former }),
      ...toEnd(before, state, author.at),
    }
    await tx.subscription.update({ where: { id }, data, select: { id: true } })
    const after = await findAddress(tx, of, id)
    const [old, next] = [toNote(before), { ...toNote(after), ...(former && { secretReplaced: true }) }]
    const isNoted = JSON.stringify(old) !== JSON.stringify(next)
    if (isNoted) await note({ team, action: 'address.update', target: of.app, before: old, after: next })
    return after
  })
}

/** A paused address has ended, without a mail to the team. */
function toEnd(before: Row, wanted: Changes['state'], at: Date) {
  if (wanted === 'paused' && before.state !== 'paused') return { paused: true, endedAt: at, alarm: 'ended' as const }
  const isOver = before.state === 'paused' || before.state === 'ended'
  return wanted === 'active' && isOver ? { paused: false, endedAt: null, alarm: null } : {}
}

/**
 * Removes an address and its deliveries: most of these before itself, so that its refusals come before. Then the removal is noted as
 * soon as the address has ended, as what follows may fail.
 */
export async function removeAddress({ core, team, author, lock, ...of }: Changer, id: string) {
  const noted = (before: Row) =>
    ({ team, action: 'address.remove', target: of.app, before: toNote(before) }) satisfies Change
  const busy = await retryingDeadlocks(() =>
    auditing(core.db, author, async (tx, note) => {
      await lock(tx)
      const before = await findAddress(tx, of, id)
      await refuseBeyond(tx, team, author)
      const busy = await endIfBusy(tx, id, author.at.getTime())
      if (busy) await note(noted(before))
      return busy
    }),
  )
  if (busy) await removeMostDeliveries(core.db, id)
  await retryingDeadlocks(() =>
    auditing(core.db, author, async (tx, note) => {
      await lock(tx)
      const before = await findAddress(tx, of, id)
      await tx.subscription.delete({ where: { id }, select: { id: true } })
      if (!busy) await note(noted(before))
    }),
  )
}

const toStored = (types: Settings['types']) => [...new Set(types)]

/** Whether deliveries fail is no change of the address. */
const toNote = ({ environment, url, types, state }: Row) => ({
  environment,
  url,
  types,
  state: state === 'failing' ? 'active' : state,
})

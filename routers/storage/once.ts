import { bool, instant, statement, text } from '../../prisma/pg/statement.ts'
import type { Call, Core } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import { expiry, idempotencyKey } from '../kernel/page.ts'
import type { Applied } from './apply.ts'
import { apply } from './apply.ts'
import type { Once, Operation } from './operation.ts'
import type { Collection } from './statements.ts'
import { setUsage, usedBytes } from './usage.ts'

/** A field of each endpoint that writes to a store, with `headers` to take it from. */
export const storeKey = idempotencyKey
  .meta({
    description:
      '1 to 255 visible ASCII characters. Repeated within 24 hours with the same request, it returns the first response and writes nothing; only what a batch reads is read again.',
    examples: ['5b0c9e2a-write-1'],
  })
  .optional()
export const keyHeader = { idempotencyKey: 'Idempotency-Key' }

interface Writer {
  core: Core
  call: Call
  app: string
  club: string
  member: string
}

/** Applies a PUT or DELETE once, and reports the usage, also with its refusals. Throws as `apply` does. */
export async function writeOnce(
  { core, call, app, club, member }: Writer,
  key: string,
  operation: Operation & Collection & { op: 'put' | 'delete' },
): Promise<Applied> {
  const { db, storageQuotaBytes: quotaBytes } = core
  const once: Once = { client: call.principal.client, key, method: operation.op === 'put' ? 'PUT' : 'DELETE' }
  const request = { operations: [operation], at: core.now() / 1000, quotaBytes, once }
  try {
    const { applied, used } = await apply(db, { app, club, member, ruled: true }, request, call.reserve)
    setUsage(call, used, quotaBytes)
    core.watch.wake(operation)
    return applied[0]!
  } catch (error) {
    if (error instanceof ApiError && [403, 404, 412].includes(error.status)) {
      setUsage(call, await usedBytes(db, { app, club }), quotaBytes)
    }
    throw error
  }
}

const selectKnown = statement(
  'storage_request_known',
  `SELECT EXISTS (SELECT FROM "StorageRequest" WHERE "clientId" = $client AND "clubId" = $club AND "memberId" = $member AND key = $key
      AND "createdAt" > $after) AS known`,
  { client: text, club: text, member: text, key: text, after: instant },
  { known: bool },
)

/** Whether the key has a first answer, which a repeated request gets whatever the quota says now. */
export async function isKnown({ core, call, club, member }: Writer, key: string): Promise<boolean> {
  const values = { client: call.principal.client, club, member, key, after: expiry(core.now()) }
  return (await core.db.execute(selectKnown, values))[0]!.known
}

import { expect } from 'vitest'
import type { Database, Transaction } from '../../prisma/client.ts'

/**
 * Runs `call` against a concurrent change: `change` is uncommitted when the call begins and is committed once the call
 * waits for its lock. Returns the call's result. `undo` rolls the change back instead; `goOn` continues the change in a
 * deadlock, which PostgreSQL resolves by aborting the call's transaction.
 */
export async function meanwhile<T>(
  db: Database,
  change: (tx: Transaction) => Promise<unknown>,
  call: () => Promise<T>,
  { undo = false, goOn }: { undo?: boolean; goOn?: (tx: Transaction) => Promise<unknown> } = {},
): Promise<T> {
  const rollback = new Error('rolled back')
  let settled = false
  let called: Promise<T> | undefined
  await db
    .$transaction(
      async (tx) => {
        const [{ pid }] = await tx.$queryRaw<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`
        await change(tx)
        called = call().finally(() => {
          settled = true
        })
        called.catch(() => {})
        const waits = async () => {
          const blocked = await db.$queryRaw<unknown[]>`
            SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND ${pid} = ANY (pg_blocking_pids(pid))`
          return blocked.length > 0
        }
        await expect.poll(async () => settled || (await waits()), { interval: 20 }).toBe(true)
        // Otherwise the two ran one after the other.
        expect(settled).toBe(false)
        if (undo) throw rollback
        // The session that checks for a deadlock first is aborted: the call checks after 2 s (global-setup.ts).
        if (goOn) await tx.$executeRaw`SET LOCAL deadlock_timeout = '30s'`
        await goOn?.(tx)
      },
      { maxWait: 20_000 },
    )
    .catch((error) => {
      if (error !== rollback) throw error
    })
  return called!
}

/** Blocks transactions that need the app to exist. */
export const holdApp = (tx: Transaction, app: string) => tx.$queryRaw`SELECT id FROM "App" WHERE id = ${app} FOR UPDATE`

/** Blocks transactions that need the subscription to exist. */
export const holdSubscription = (tx: Transaction, subscription: string) =>
  tx.$queryRaw`SELECT id FROM "Subscription" WHERE id = ${subscription} FOR UPDATE`

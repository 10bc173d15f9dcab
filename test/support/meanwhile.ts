import { expect } from 'vitest'
import type { Database, Transaction } from '../../prisma/client.ts'

/**
 * A call that finds something changed under its hands: `change` is done, but not committed, when the call begins, and is
 * committed once the call waits for it. Gives what the call answers. With `undo` the change is taken back instead; with
 * `goOn` it goes on, in a deadlock with the call, which is the one that gives way.
 */
export async function meanwhile<T>(
  db: Database,
  change: (tx: Transaction) => Promise<unknown>,
  call: () => Promise<T>,
  { undo = false, goOn }: { undo?: boolean; goOn?: (tx: Transaction) => Promise<unknown> } = {},
): Promise<T> {
  const taken = new Error('taken back')
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
        // Else the test would be about two calls one after the other.
        expect(settled).toBe(false)
        if (undo) throw taken
        // Whoever looks for a deadlock first gives way: the call does so after three seconds (global-setup.ts).
        if (goOn) await tx.$executeRaw`SET LOCAL deadlock_timeout = '30s'`
        await goOn?.(tx)
      },
      { timeout: 30_000, maxWait: 20_000 },
    )
    .catch((error) => {
      if (error !== taken) throw error
    })
  return called!
}

/** Held against whoever needs that the app is there. */
export const holdApp = (tx: Transaction, app: string) => tx.$queryRaw`SELECT id FROM "App" WHERE id = ${app} FOR UPDATE`

/** Held against whoever needs that the subscription is there. */
export const holdSubscription = (tx: Transaction, subscription: string) =>
  tx.$queryRaw`SELECT id FROM "Subscription" WHERE id = ${subscription} FOR UPDATE`

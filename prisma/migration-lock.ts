import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { UNLIMITED } from './session-limits.ts'

/** Prisma Migrate's lock, so that `prisma migrate deploy` waits as well. */
const LOCK = 72707369
const LOOK_AGAIN_MS = 200

/** A statement that waits for a table blocks all later ones: it gives up soon, and lets them pass meanwhile. */
export const LOCK_TIMEOUT = '2s'
const PAUSES_MS: readonly number[] = [500, 1_000, 2_000, 4_000]

/** Options in the URL replace the client's. */
const SETTINGS = `SET LOCAL timezone = 'UTC'; ${UNLIMITED}`

interface Waiting {
  /** Called once when another process has the lock. */
  waits: () => void
  /** Pauses between attempts; one fewer than the attempts. */
  pausesMs?: readonly number[] | undefined
}

/** Retries after a lock time-out. */
export async function inLockedTransaction<T>(
  client: pg.Client,
  work: () => Promise<T>,
  { waits, pausesMs = PAUSES_MS }: Waiting,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      await beginLocked(client, waits)
      const result = await work()
      await client.query('COMMIT')
      return result
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {}) // of a lost connection, the server does it
      if (tries > pausesMs.length || !isHeldUp((error as Error).cause ?? error)) throw error
      await pause(pausesMs[tries - 1])
    }
  }
}

/** Polls: a waiting statement has a snapshot, for which another process's CREATE INDEX CONCURRENTLY would wait. */
async function beginLocked(client: pg.Client, waits: () => void): Promise<void> {
  for (let attempts = 0; ; attempts++) {
    await client.query(`BEGIN; ${SETTINGS}; SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`)
    const { rows } = await client.query('SELECT pg_try_advisory_xact_lock($1) AS locked', [LOCK])
    if (rows[0].locked) return
    await client.query('ROLLBACK')
    if (attempts === 0) waits()
    await pause(LOOK_AGAIN_MS)
  }
}

export const isHeldUp = (error: unknown) => ['55P03', '40P01'].includes((error as { code?: string }).code ?? '')

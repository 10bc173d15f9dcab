import { randomUUID } from 'node:crypto'
import type { Database } from '../../prisma/client.ts'
import { within } from '../../prisma/within.ts'
import { DueWatch } from '../../routers/kernel/due-watch.ts'
import { outsideOfSpan } from '../telemetry/trace-context.ts'
import type { AttemptOptions } from './attempt.ts'
import { createAttempt } from './attempt.ts'
import { createAvailability } from './availability.ts'
import { createDuePoller, REST_MS } from './due-poller.ts'
import type { Claimed } from './queue.ts'
import { claim, release } from './queue.ts'
import { createResultWriter } from './result-writer.ts'
import { createScheduler } from './scheduler.ts'

/** 30 s longer than an attempt can take. */
export const LEASE_MS = 45_000

/** How long a worker that is closed waits for deliveries in flight. */
export const DRAIN_MS = 7_000

interface Options extends AttemptOptions {
  db: Database
  /** Wakes the worker. */
  watch?: DueWatch | undefined
  /** The longest pause between polls while nobody calls `wake`. */
  pollMs?: number
  /** The longest one while nothing is due and other processes report what becomes due. */
  restMs?: number | undefined
  /** How long a claimed delivery belongs to this worker. */
  leaseMs?: number
  /** Milliseconds of a clock that only goes forward. */
  clock?: () => number
}

export interface Worker {
  figures: {
    underWay: () => number
    /** Since the loop last looked for due deliveries, or tried to. */
    secondsSinceTurn: () => number
  }
  wake: () => void
  /**
   * Claims nothing more, waits up to `waitMs` for deliveries in flight, and releases the others, whose number it returns; results
   * are written. Takes a second longer at most, and never rejects.
   */
  close: (waitMs?: number) => Promise<number>
}

/** Delivers what is due until it is closed. Several workers may share a database. */
export function startWorker({
  db,
  watch = new DueWatch(),
  pollMs = 1_000,
  restMs = REST_MS,
  leaseMs = LEASE_MS,
  clock = () => performance.now(),
  ...options
}: Options): Worker {
  const { now, log } = options
  const name = randomUUID()
  const scheduler = createScheduler({ pollMs })
  const poll = createDuePoller({ db, now, clock, pollMs, restMs, isNotified: () => watch.isNotified })
  const availability = createAvailability(log)
  const results = createResultWriter({ db, now, log, availability, retryMs: pollMs })
  const attempt = createAttempt(options)
  const inFlight = new Map<Claimed, Promise<void>>()
  let claims = 0
  let closing = false

  function start(delivery: Claimed) {
    const slot = scheduler.started(delivery, clock())
    const done = attempt(delivery).then((made) => {
      const { error, gone } = made.result
      const freeSlot = () => {
        scheduler.finished(slot, error === null, clock())
        schedule()
      }
      // No longer in flight: it was released when the worker closed.
      const isOwn = inFlight.delete(delivery)
      // After a 410, the slot is freed once that is written: otherwise the subscription would be claimed again.
      if (isOwn) results.add(made, gone ? freeSlot : undefined)
      if (!gone) freeSlot()
    })
    inFlight.set(delivery, done)
  }

  async function claimDue() {
    const allocation = scheduler.allocate(clock(), results.pending())
    if (allocation.size === 0) return
    const deliveries = await claim(db, { now: now(), lease: `${name}.${++claims}`, leaseMs, allocation })
    scheduler.claimed(clock(), allocation, deliveries)
    if (closing) await release(db, deliveries)
    else for (const delivery of deliveries) start(delivery)
  }

  async function takeTurn() {
    try {
      if (clock() >= scheduler.nextPollAt()) scheduler.polled(await poll())
      if (!closing) await claimDue()
      availability.up()
    } catch (error) {
      availability.down(error)
      scheduler.failed(clock())
    }
  }

  let timer: NodeJS.Timeout | undefined
  let scheduledAt = Number.POSITIVE_INFINITY
  let turn: Promise<void> | undefined
  let turnedAt = clock()

  /** Sets the timer for the next turn, or moves it forward. A turn that is running calls this when it ends. */
  function schedule() {
    const at = scheduler.nextTurnAt()
    if (closing || turn || at >= scheduledAt) return
    scheduledAt = at
    clearTimeout(timer)
    timer = setTimeout(runTurn, Math.max(0, Math.ceil(at - clock())))
  }

  function runTurn() {
    scheduledAt = Number.POSITIVE_INFINITY
    turn = takeTurn().finally(() => {
      turn = undefined
      turnedAt = clock()
      schedule()
    })
  }

  const wake = () => {
    scheduler.wake(clock())
    schedule()
  }

  watch.onDue = () => outsideOfSpan(wake)
  schedule()
  return {
    figures: {
      underWay: () => inFlight.size,
      secondsSinceTurn: () => (clock() - turnedAt) / 1_000,
    },
    wake,
    async close(waitMs = DRAIN_MS) {
      closing = true
      clearTimeout(timer)
      const settled = async () => {
        await turn
        await Promise.all(inFlight.values())
      }
      await within(waitMs, settled())
      const unfinished = [...inFlight.keys()]
      inFlight.clear()
      const written = results.close().then(() => (unfinished.length > 0 ? release(db, unfinished) : undefined))
      await within(1_000, written.catch(availability.down))
      return unfinished.length
    },
  }
}

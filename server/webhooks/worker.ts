import { randomUUID } from 'node:crypto'
import type { Database } from '../../prisma/client.ts'
import type { Attempting } from './attempt.ts'
import { attempting } from './attempt.ts'
import { createOutage } from './availability.ts'
import { createLanes } from './concurrency-limiter.ts'
import { createSight } from './due-poller.ts'
import type { Claimed } from './queue.ts'
import { claim, release } from './queue.ts'
import { createWriteBack } from './result-writer.ts'

/** Between claims: slots that come free and what is published meanwhile have one claim together. */
const TURN_MS = 20
/** Of one claim. */
const MOST_CLAIMED = 100
/** Nothing is claimed while bodies of so many bytes are under way, or so many outcomes wait for the database. */
const MOST_BYTES = 64 * 1024 * 1024
const MOST_WAITING = 4_096

interface Options extends Attempting {
  db: Database
  /** How often it looks for what is due, if nobody wakes it. */
  pollMs?: number
  /** For how long a delivery is this worker's: 30 s more than a try can take. */
  leaseMs?: number
}

export interface Worker {
  /** There may be something due. */
  wake: () => void
  /** Claims nothing more, waits so long for what is under way, and gives back the rest. Outcomes are written. */
  close: (waitMs?: number) => Promise<void>
}

/** Delivers what is due, until it is closed. Several may work on one database. */
export function startWorker({ db, pollMs = 1_000, leaseMs = 45_000, ...rest }: Options): Worker {
  const { now, log } = rest
  const name = randomUUID()
  const lanes = createLanes(now)
  const sight = createSight({ db, now, pollMs, isOpen: lanes.isOpen })
  const outage = createOutage(log)
  const outcomes = createWriteBack({ db, now, log, outage, pauseMs: pollMs })
  const attempt = attempting(rest)
  const underWay = new Map<Claimed, Promise<void>>()
  let bytes = 0
  let claims = 0
  let closing = false

  function begin(row: Claimed) {
    const end = lanes.begin(row.subscription)
    bytes += row.body.length
    const done = attempt(row).then((finished) => {
      bytes -= row.body.length
      const free = () => {
        end(finished.delivered)
        if (!sight.isEmpty()) arm(TURN_MS)
      }
      // After the end it was given back, and is no longer ours to write.
      const ours = underWay.delete(row)
      // Who wants nothing more gets nothing more, also until that is written.
      if (ours) outcomes.add(finished, finished.gone ? free : undefined)
      if (!finished.gone) free()
    })
    underWay.set(row, done)
  }

  /** Claims for whom there is room; in how many ms it is worth to do so again, if it is. */
  async function take(): Promise<number | undefined> {
    if (closing || bytes > MOST_BYTES || outcomes.waiting() > MOST_WAITING) return undefined
    const shares = lanes.share(sight.next(), MOST_CLAIMED)
    if (shares.size === 0) return sight.hasMore() ? TURN_MS : undefined
    const rows = await claim(db, { now: now(), lease: `${name}.${++claims}`, leaseMs, shares })
    sight.claimed(shares, rows)
    if (closing) await release(db, rows)
    else for (const row of rows) begin(row)
    return rows.length < MOST_CLAIMED ? TURN_MS : 0
  }

  let timer: NodeJS.Timeout | undefined
  let armedFor = Number.POSITIVE_INFINITY
  let turning: Promise<void> | undefined

  async function turn() {
    try {
      if (performance.now() >= sight.nextAt()) await sight.look()
      const again = await take()
      if (again !== undefined) arm(again)
      outage.passed()
    } catch (error) {
      outage.failed(error)
      sight.rest()
    }
  }

  /** A turn in so many milliseconds, or earlier where one is planned; after the one that is on. */
  function arm(ms: number) {
    const at = performance.now() + ms
    if (closing || at >= armedFor) return
    armedFor = at
    clearTimeout(timer)
    if (!turning) timer = setTimeout(start, ms)
  }

  function start() {
    armedFor = Number.POSITIVE_INFINITY
    turning = turn().finally(() => {
      turning = undefined
      const at = Math.min(armedFor, sight.nextAt())
      armedFor = Number.POSITIVE_INFINITY
      arm(Math.max(0, at - performance.now()))
    })
  }

  start()
  return {
    wake() {
      sight.wake()
      arm(Math.max(0, sight.nextAt() - performance.now()))
    },
    async close(waitMs = 7_000) {
      closing = true
      clearTimeout(timer)
      const settled = async () => {
        await turning
        await Promise.all(underWay.values())
      }
      await within(waitMs, settled())
      const left = [...underWay.keys()]
      underWay.clear()
      const written = outcomes.close().then(() => (left.length > 0 ? release(db, left) : undefined))
      await within(1_000, written.catch(outage.failed))
    },
  }
}

/** Waits, but not for longer. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import { float, statement } from '../../prisma/pg/statement.ts'

/** Between measurements. */
const MEASURE_MS = 10_000
/** A machine's clock that is off by more is logged. */
const TOLERATED_MS = 2_000
/** Of this machine's clock between two readings, beyond the time that has passed: somebody has set it. */
const STEP_MS = 1_000

const asked = statement('database_clock', 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms', {
  ms: float,
})

interface Options {
  log?: Pick<Logger, 'warn' | 'info'>
  /** This machine's clock, in Unix milliseconds. */
  machine?: () => number
  /** Milliseconds of a clock that nobody can set. */
  steady?: () => number
}

export type DatabaseClock = Awaited<ReturnType<typeof openDatabaseClock>>

/**
 * The time by the database's clock, so that nodes whose own clocks differ agree on what is due, leased or over. Measured
 * now and every 10 s, not at a request: `now` is this machine's clock with the least correction that is certain, which is none
 * where the database's answer fits between question and reply. Rejects when the database does not answer now.
 */
export async function openDatabaseClock(
  db: Database,
  { log, machine = Date.now, steady = () => performance.now() }: Options = {},
) {
  let correction = 0
  let lead = machine() - steady()
  let warned = false

  function now() {
    const at = machine()
    const step = at - steady() - lead
    if (Math.abs(step) > STEP_MS) {
      correction -= step
      lead += step
    }
    return Math.round(at + correction)
  }

  async function measure() {
    const sent = now()
    const [row] = await db.execute(asked, [])
    const [received, { ms }] = [now(), row!]
    // These readings are whole milliseconds, the database's is not.
    correction += ms < sent ? ms - sent : Math.max(0, ms - received - 1)
    lead = machine() - steady()
    const isOff = Math.abs(correction) > TOLERATED_MS
    if (isOff && !warned) log?.warn(sentence(-correction))
    if (warned && !isOff) log?.info('the clock of this machine is right')
    warned = isOff
  }

  await measure()
  // While the database is away, the last correction holds.
  const timer = setInterval(() => measure().catch(() => {}), MEASURE_MS).unref()
  return {
    /** Unix time in milliseconds. */
    now,
    /** How far this machine's clock is ahead, in seconds; negative where it is behind. */
    aheadSeconds: () => (machine() - now()) / 1_000,
    measure,
    close: () => clearInterval(timer),
  }
}

const sentence = (aheadMs: number) =>
  `the clock of this machine is ${Math.abs(aheadMs / 1_000).toFixed(1)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's, by which the service goes: synchronise both (NTP)`

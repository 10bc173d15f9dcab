import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import { float, statement } from '../../prisma/pg/statement.ts'

/** Between measurements. */
const MEASURE_MS = 10_000
/** A larger difference of the machine's clock is logged. */
const TOLERATED_MS = 2_000
/** A jump of the machine's clock between two readings beyond the time that has passed: the clock has been set. */
const STEP_MS = 1_000

const asked = statement(
  'database_clock',
  'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
  {},
  {
    ms: float,
  },
)

interface Options {
  log?: Pick<Logger, 'warn' | 'info'> | undefined
  /** The machine's clock, in Unix milliseconds. */
  machine?: () => number
  /** Milliseconds of a clock that cannot be set. */
  steady?: () => number
}

export type DatabaseClock = Awaited<ReturnType<typeof openDatabaseClock>>

/**
 * Returns the time by the database's clock, so that nodes with differing clocks agree on what is due, leased or expired. Measured
 * at the start and every 10 s, not per request: `now` is the machine's clock with the smallest certain correction, which is none
 * if the database's answer lies between question and reply. Rejects when the database does not answer the first measurement.
 */
export async function openDatabaseClock(
  db: Database,
  { log, machine = Date.now, steady = () => performance.now() }: Options = {},
) {
  let correction = 0
  let lead = machine() - steady()
  let warned = false

  function timeAt(at: number) {
    const step = at - steady() - lead
    if (Math.abs(step) > STEP_MS) {
      correction -= step
      lead += step
    }
    return Math.round(at + correction)
  }
  const now = () => timeAt(machine())

  async function measure() {
    const sent = now()
    const [row] = await db.execute(asked, {})
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
  // While the database is unavailable, the last correction applies.
  const timer = setInterval(() => measure().catch(() => {}), MEASURE_MS).unref()
  return {
    /** Unix time in milliseconds. */
    now,
    steady,
    /** How far the machine's clock is ahead, in seconds; negative when it is behind. */
    aheadSeconds() {
      // One reading: between two, time passes.
      const at = machine()
      return (at - timeAt(at)) / 1_000
    },
    measure,
    close: () => clearInterval(timer),
  }
}

const sentence = (aheadMs: number) =>
  `the clock of this machine is ${Math.abs(aheadMs / 1_000).toFixed(1)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's, by which the service goes: synchronise both (NTP)`

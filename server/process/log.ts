import { format } from 'node:util'
import type { DestinationStream, Logger, LoggerOptions } from 'pino'
import pino from 'pino'
import type { Core } from '../../routers/kernel/context.ts'
import { traceOfLine } from '../telemetry/trace-context.ts'

/**
 * Lines are written together, after 100 ms at the latest: each write occupies a thread. At 4 KiB a write, they took 5 % of a PUT.
 * While 16 MiB wait, as on a full disk, more lines are lost.
 */
const BUFFERING = { minLength: 32_768, maxWrite: 65_536, maxLength: 16_777_216, contentMode: 'buffer' } as const
const FLUSH_MS = 100

/** For each line that is text, sonic-boom counts the bytes of all that wait: 6.9 us a line instead of 2.8, 13 KB instead of 0.5. */
const asBytes = (line: string) => Buffer.from(line) as unknown as string

/**
 * One line of JSON per entry, written without delaying the request that it is about. With `traces`, a line includes its trace.
 */
export function createLog(level: string, { traces } = { traces: false }): Logger {
  const destination = pino.destination({ sync: false, ...BUFFERING })
  // What a full disk refuses is tried again with the next lines. At the exit, sonic-boom would try for ever.
  destination.on('error', () => {
    destination.flushSync = () => {}
  })
  let isSoon = false
  const flush = () => {
    isSoon = false
    destination.flush()
  }
  // In place of sonic-boom's own interval, whose ten writes of nothing a second were half of the CPU time at rest.
  const streamWrite = (line: string) => {
    if (!isSoon) setTimeout(flush, FLUSH_MS).unref()
    isSoon = true
    return asBytes(line)
  }
  return logTo(destination, level, { hooks: { streamWrite }, ...(traces ? { mixin: traceOfLine } : {}) })
}

export const logTo = (destination: DestinationStream, level: string, more: LoggerOptions = {}): Logger =>
  pino({ level, base: null, timestamp: isoTime(), serializers: { err: serializeError }, ...more }, destination)

/** Without `detail`, which PostgreSQL fills with values of rows. */
const serializeError = ({ name, code, message, stack }: Error & { code?: string }) => ({ name, code, message, stack })

/** The time as ISO 8601, formatted once per millisecond: formatting it for each line takes 2 % of a request. */
function isoTime() {
  let [at, text] = [0, '']
  return () => {
    const now = Date.now()
    if (now !== at) [at, text] = [now, `,"time":"${new Date(now).toISOString()}"`]
    return text
  }
}

/** The same log for lines that are repeated after a restore: only LOG_LEVEL=silent omits them. */
export const auditLog = (log: Logger): Logger => (log.isLevelEnabled('fatal') ? log.child({}, { level: 'info' }) : log)

/** Limits the log line of an event with many deliveries; each gets its own lines later. */
const LOGGED_DELIVERIES = 100

/** Reports of the core become lines. */
export const coreEvents = (log: Logger): Required<Pick<Core, 'published' | 'removed'>> => ({
  published({ app, event, deliveries }) {
    log.info({ app, event, count: deliveries.length, deliveries: deliveries.slice(0, LOGGED_DELIVERIES) }, 'published')
  },
  removed: (removal, more) => auditLog(log).info({ ...removal, ...more }, 'removed'),
})

/** Lines about the database as a whole; a failed request has its own line. */
export const databaseEvents = (log: Logger) => ({
  away: (err: Error) => log.warn({ err }, 'the database cannot be reached'),
  back: () => log.info('the database is back'),
})

/** Logs what packages print, and Node's warnings: in production, the output is nothing but JSON. */
export function logConsole(log: Logger) {
  const lines = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error', trace: 'debug' } as const
  for (const [method, level] of Object.entries(lines)) {
    console[method as keyof typeof lines] = (...args: unknown[]) => log[level](format(...args))
  }
  // Node's own listener prints them.
  process.removeAllListeners('warning')
  process.on('warning', (warning) => log.warn({ err: warning }, warning.message))
}

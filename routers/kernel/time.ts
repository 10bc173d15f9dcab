export const toUnix = (date: Date) => Math.floor(date.getTime() / 1000)
/** The same in SQL. */
export const unix = (time: string) => `floor(extract(epoch FROM ${time}))::int8`
/** In milliseconds. */
export const unixMs = (time: string) => `floor(extract(epoch FROM ${time}) * 1000)::int8`

export const fromUnix = (seconds: number) => new Date(seconds * 1000)

/** `YYYY-MM-DD` of a date column, which Prisma reads as midnight UTC. */
export const toPlainDate = (date: Date) => date.toISOString().slice(0, 10)

/** A wait for Retry-After, in whole seconds: at least one, and never too short. */
export const retryAfterSeconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000))

export const DAY_SECONDS = 86_400
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** Whether this runtime knows the name of an IANA time zone. Newer ones take offsets such as +01:00 as well. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Z]/i.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}

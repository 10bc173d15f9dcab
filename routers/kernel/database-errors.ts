import { setTimeout as pause } from 'node:timers/promises'
import { ApiError, errors } from './errors.ts'

/**
 * Codes of Prisma, PostgreSQL and the network for a database that cannot be reached, responds too late or lets other
 * transactions go first.
 */
const unreachable =
  /^(?:P1\d{3}|P2024|P2028|P2034|08\w{3}|28\w{3}|3D000|40001|40P01|53\w{3}|55P03|25006|25P0[34]|57014|57P0\d|EAI_AGAIN|E(?:CONNREFUSED|CONNRESET|HOSTUNREACH|NETUNREACH|NOTFOUND|PIPE|TIMEDOUT))$/

/** Prisma's driver adapter replaces some of these codes with names in raw queries. */
const unreachableName = /^(?:DatabaseNotReachable|ConnectionClosed|SocketTimeout|TlsConnectionError)$/

/** The driver's messages without a code; and that of a socket: ENOENT and EAGAIN are an outage only of connecting. */
const unreachableText =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|Server has closed the connection|^connect E[A-Z]+ /m

const FOREIGN_KEY_VIOLATION = '23503'

interface DatabaseError {
  code?: string
  meta?: { driverAdapterError?: { cause?: { originalCode?: string } } }
}

export function sqlState(thrown: unknown): string | undefined {
  const { code, meta } = thrown as DatabaseError
  return meta?.driverAdapterError?.cause?.originalCode ?? code
}

/** The error that clients see for anything thrown in a procedure: 503 when the database is unreachable or busy, else 500. */
export function toFailure(thrown: unknown): ApiError {
  for (let error: unknown = thrown, depth = 0; error instanceof Object && depth < 8; depth++) {
    if (error instanceof ApiError) return error
    const { code, originalCode, kind, message, cause, meta } = error as Record<string, unknown>
    if (unreachable.test(String(code)) || unreachable.test(String(originalCode))) return errors.unavailable(thrown)
    if (unreachableName.test(String(kind)) || unreachableText.test(String(message))) return errors.unavailable(thrown)
    // A write fails on a foreign key only if the token's client, member or organisation has just been deleted.
    if ([code, originalCode].includes(FOREIGN_KEY_VIOLATION) || code === 'P2003') return errors.tokenInvalid()
    error = cause ?? (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError
  }
  return errors.internal(thrown)
}

/** Before each repetition: the other transaction needs a moment to get the lock, which a repetition at once can take again. */
const PAUSES_MS = [10, 40, 160, 640]

/** The service's writers lock in one order and cannot deadlock; manual edits of rows can cause deadlocks. */
export async function retryingDeadlocks<T>(write: () => Promise<T>): Promise<T> {
  for (const ms of PAUSES_MS) {
    try {
      return await write()
    } catch (error) {
      if (sqlState(error) !== '40P01') throw error
      await pause(ms)
    }
  }
  return write()
}

/** Conflicts worth one retry: serialisation failure, a referenced row deleted after it was read. */
const transient = new Set(['40001', '23503'])

/** The same after a deadlock, up to four times. */
export const retryingConflicts = <Outcome>(work: () => Promise<Outcome>): Promise<Outcome> =>
  retryingDeadlocks(work).catch((error) => {
    if (transient.has(sqlState(error) ?? '')) return retryingDeadlocks(work)
    throw error
  })

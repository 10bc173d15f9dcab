import { ApiError, errors } from './errors.ts'

/** Codes of Prisma, PostgreSQL and the network for a database that cannot be reached or responds too late. */
const unreachable =
  /^(?:P1\d{3}|P2024|P2028|08\w{3}|28\w{3}|3D000|53\w{3}|25006|25P03|57014|57P0\d|EAI_AGAIN|E(?:CONNREFUSED|CONNRESET|HOSTUNREACH|NETUNREACH|NOTFOUND|PIPE|TIMEDOUT))$/

/** Prisma's driver adapter replaces some of these codes by its own kinds in raw queries. */
const unreachableKind = /^(?:DatabaseNotReachable|ConnectionClosed|SocketTimeout|TlsConnectionError)$/

/** Messages of the driver that have no code. */
const unreachableText =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|Server has closed the connection/

const FOREIGN_KEY_VIOLATION = '23503'

interface DatabaseError {
  code?: string
  meta?: { driverAdapterError?: { cause?: { originalCode?: string } } }
}

/** The SQLSTATE of an error of the driver, or of one that Prisma has wrapped. */
export function sqlState(thrown: unknown): string | undefined {
  const { code, meta } = thrown as DatabaseError
  return meta?.driverAdapterError?.cause?.originalCode ?? code
}

/** The error that a client may see for anything thrown in a procedure: 503 when the database is away, else 500. */
export function failureOf(thrown: unknown): ApiError {
  for (let error: unknown = thrown, depth = 0; error instanceof Object && depth < 8; depth++) {
    if (error instanceof ApiError) return error
    const { code, originalCode, kind, message, cause, meta } = error as Record<string, unknown>
    if (unreachable.test(String(code)) || unreachable.test(String(originalCode))) return errors.unavailable(thrown)
    if (unreachableKind.test(String(kind)) || unreachableText.test(String(message))) return errors.unavailable(thrown)
    // Only a client, member or organisation of the token that was deleted a moment ago leaves a write without its row.
    if ([code, originalCode].includes(FOREIGN_KEY_VIOLATION) || code === 'P2003') return errors.tokenInvalid()
    error = cause ?? (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError
  }
  return errors.internal(thrown)
}

/** Our own writers lock in one order and cannot deadlock; with rows that are edited by hand they can. */
export function retryingDeadlocks<T>(write: () => Promise<T>, tries = 5): Promise<T> {
  return write().catch((error) => {
    if (sqlState(error) !== '40P01' || tries === 1) throw error
    return retryingDeadlocks(write, tries - 1)
  })
}

import { ApiError, errors } from './errors.ts'

/** Codes with which Prisma, PostgreSQL and the network say that the database cannot be reached, or answers too late. */
const unreachable =
  /^(?:P1\d{3}|P2024|P2028|08\w{3}|28\w{3}|3D000|53\w{3}|57014|57P0\d|EAI_AGAIN|E(?:CONNREFUSED|CONNRESET|HOSTUNREACH|NETUNREACH|NOTFOUND|PIPE|TIMEDOUT))$/

/** What Prisma's driver adapter makes of some of these codes, and leaves as their only trace under a raw query. */
const unreachableKind = /^(?:DatabaseNotReachable|ConnectionClosed|SocketTimeout|TlsConnectionError)$/

/** Sentences of the driver that come without a code. */
const unreachableText =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|Server has closed the connection/

const FOREIGN_KEY_VIOLATION = '23503'

interface DatabaseError {
  code?: string
  meta?: { driverAdapterError?: { cause?: { originalCode?: string } } }
}

/** PostgreSQL's own code of an error: of the driver's, or of one that Prisma has wrapped it in. */
export function sqlState(thrown: unknown): string | undefined {
  const { code, meta } = thrown as DatabaseError
  return meta?.driverAdapterError?.cause?.originalCode ?? code
}

/** What went wrong inside a procedure, as the client may see it: 503 when the database is away, else 500. */
export function failureOf(thrown: unknown): ApiError {
  for (let error: unknown = thrown, depth = 0; error instanceof Object && depth < 8; depth++) {
    if (error instanceof ApiError) return error
    const { code, originalCode, kind, message, cause, meta } = error as Record<string, unknown>
    if (unreachable.test(String(code)) || unreachable.test(String(originalCode))) return errors.unavailable(thrown)
    if (unreachableKind.test(String(kind)) || unreachableText.test(String(message))) return errors.unavailable(thrown)
    // Only the removal of the token's own client, member or organisation, a moment ago, leaves a write without its row.
    if ([code, originalCode].includes(FOREIGN_KEY_VIOLATION) || code === 'P2003') return errors.tokenInvalid()
    error = cause ?? (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError
  }
  return errors.internal(thrown)
}

/** Our writers lock in one order, so they cannot deadlock with one another; with rows that are edited by hand they can. */
export function retryingDeadlocks<T>(write: () => Promise<T>, tries = 5): Promise<T> {
  return write().catch((error) => {
    if (sqlState(error) !== '40P01' || tries === 1) throw error
    return retryingDeadlocks(write, tries - 1)
  })
}

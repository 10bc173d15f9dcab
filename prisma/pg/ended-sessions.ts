import { DatabaseError } from 'pg'

/** Codes with which the session has ended, or the server has become a standby. */
export const endsUse = (code = '') => /^(?:57P|08|25006|25P0[34])/.test(code)

/** After any other error that PostgreSQL reports, the connection is usable. */
export const keepsConnection = (error: unknown) => error instanceof DatabaseError && !endsUse(error.code)

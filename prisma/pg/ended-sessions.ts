import { DatabaseError } from 'pg'

/**
 * After an error that PostgreSQL reports the connection is usable, unless the session has ended or the server has become a
 * standby.
 */
export const endsUse = (code = '') => /^(?:57P|08|25006|25P0[34])/.test(code)

export const keepsConnection = (error: unknown) => error instanceof DatabaseError && !endsUse(error.code)

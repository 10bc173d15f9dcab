import pg from 'pg'
import { decodeAddress } from './address-parameters.ts'
import type { Database } from './client.ts'
import { bool, int, nullable, statement, text } from './pg/statement.ts'
import { checkSchema, SESSION_NAMES } from './search-path.ts'
import type { TimeLimits } from './time-limits.ts'
import { productionLimits } from './time-limits.ts'

/**
 * Limits that PostgreSQL enforces in the service's sessions: on statements, and on idle transactions. They are settings of the
 * role, as PgBouncer refuses to pass them on as connection parameters.
 */
const sessionLimits = ({ statementMs, idleTransactionMs }: TimeLimits) => ({
  statement_timeout: statementMs,
  idle_in_transaction_session_timeout: idleTransactionMs,
})

type Limit = keyof ReturnType<typeof sessionLimits>

/** For transactions of any length. */
export const UNLIMITED = 'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0'

/**
 * Limits the sessions of a role (default: the current one) in the connected database, except where the role or the database
 * already has a value. Open sessions stay unchanged. Does nothing without the right to do so: `checkSessions` says what to run.
 */
export async function limitSessions(client: pg.ClientBase, role?: string, limits = productionLimits): Promise<void> {
  const wanted = sessionLimits(limits)
  const { rows } = await client.query<{ statement: string }>(
    `SELECT format('ALTER ROLE %I IN DATABASE %I SET %I = %L', rolname, datname, name, value) AS statement
     FROM unnest($2::text[], $3::text[]) AS wanted(name, value), pg_roles r, pg_database d
     WHERE rolname = coalesce($1, current_user) AND datname = current_database() AND NOT EXISTS (
       SELECT FROM pg_db_role_setting, unnest(setconfig) AS given
       WHERE setrole IN (0, r.oid) AND setdatabase IN (0, d.oid) AND split_part(given, '=', 1) = name)`,
    [role, Object.keys(wanted), Object.values(wanted).map((ms) => `${ms}ms`)],
  )
  for (const { statement } of rows) {
    await client.query(statement).catch((error) => {
      // This role may not alter the other one, or another node is altering it at this moment.
      if (!(error instanceof pg.DatabaseError)) throw error
    })
  }
}

/** Undefined for the driver's default role. */
export function readRole(url: string): string | undefined {
  const { username, searchParams } = new URL(url)
  return searchParams.get('user') || decodeAddress(username) || undefined
}

const milliseconds = (limit: Limit) =>
  `(extract(epoch FROM current_setting('${limit}')::interval) * 1000)::int8 AS ${limit}`

/** Whether the connection asked for the value, which the role's then has no effect on. */
const isAsked = (limit: Limit) =>
  `(SELECT source = 'client' FROM pg_settings WHERE name = '${limit}') AS ${limit}_asked`

const session = statement(
  'session',
  `SELECT ${SESSION_NAMES},
     current_setting('TimeZone') AS "timeZone", pg_has_role('pg_read_all_stats', 'USAGE') AS "seesOthers",
     ${milliseconds('statement_timeout')}, ${milliseconds('idle_in_transaction_session_timeout')},
     ${isAsked('statement_timeout')}, ${isAsked('idle_in_transaction_session_timeout')}`,
  {},
  {
    role: text,
    database: text,
    schema: nullable(text),
    timeZone: text,
    seesOthers: bool,
    statement_timeout: int,
    idle_in_transaction_session_timeout: int,
    statement_timeout_asked: bool,
    idle_in_transaction_session_timeout_asked: bool,
  },
)

/**
 * Returns sentences on missing limits and rights. Throws when sessions are not in UTC, as every time would be read wrongly, or look
 * for the tables in another schema.
 */
export async function checkSessions(db: Database, limits = productionLimits): Promise<string[]> {
  const wanted = sessionLimits(limits)
  const [found] = await db.execute(session, {})
  const { role, database, timeZone, seesOthers } = found!
  if (!/^(?:Etc\/)?(?:UTC|GMT)$/.test(timeZone)) {
    throw new Error(
      `Sessions of the database are in ${timeZone}, not in UTC: DATABASE_URL must not have \`options\`, and PgBouncer must pass ` +
        'them on (1.21 or later, without `options` in ignore_startup_parameters).',
    )
  }
  checkSchema(found!)
  const missing = (Object.keys(wanted) as Limit[]).filter((name) => found![name] === 0 || found![name] > wanted[name])
  const describe = (names: readonly Limit[]) =>
    names.map((name) => `${name} is ${found![name] === 0 ? 'not set' : `${found![name]} ms`}`).join(', ')
  const asked = missing.filter((name) => found![`${name}_asked`])
  const unset = missing.filter((name) => !asked.includes(name))
  const statements = unset.map(
    (name) => `ALTER ROLE ${role} IN DATABASE ${database} SET ${name} = '${wanted[name]}ms';`,
  )
  const advice = `run ${statements.join(' ')} and, with PgBouncer, RECONNECT in its console`
  const removal = `remove ${asked.map((name) => `\`${name}\``).join(' and ')} from DATABASE_URL`
  const blind = `the role ${role} does not see how old the transactions of other roles are: run GRANT pg_read_all_stats TO ${role};`
  return [
    ...(unset.length > 0 ? [`in sessions of the database ${describe(unset)}: ${advice}`] : []),
    ...(asked.length > 0 ? [`in sessions of the database ${describe(asked)}: ${removal}`] : []),
    ...(seesOthers ? [] : [blind]),
  ]
}

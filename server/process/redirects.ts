import type { Database } from '../../prisma/client.ts'
import { arrayOf } from '../../prisma/pg/array-literal.ts'
import { statement, text } from '../../prisma/pg/statement.ts'

const register = statement(
  'client_redirects',
  `UPDATE "Client" SET "redirectUris" = "redirectUris" ||
    ARRAY(SELECT address FROM unnest($2::text[]) AS address WHERE address <> ALL(coalesce("redirectUris", '{}')))
  WHERE id = $1 RETURNING id`,
  { id: text },
)

/** Registers a demo client's redirects; false when the client has been removed. Redirects of services at other ports stay. */
export const registerRedirects = async (db: Database, id: string, addresses: readonly string[]): Promise<boolean> =>
  (await db.execute(register, [id, arrayOf(addresses)])).length > 0

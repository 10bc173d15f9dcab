import type { Database } from '../../prisma/client.ts'
import { statement, text, texts } from '../../prisma/pg/statement.ts'
import { callAs } from '../../routers/core.ts'
import type { Call, Core } from '../../routers/kernel/context.ts'
import type { FirstPartyScope } from '../../routers/kernel/scopes.ts'

const CLIENT = 'developer-portal'
const scopes: FirstPartyScope[] = ['dev:read', 'dev:write']

const register = statement(
  'portal_register',
  `INSERT INTO "Client" (id, name, environment, scopes, "redirectUris") VALUES ($id, $name, 'production', $scopes, '{}')
  ON CONFLICT DO NOTHING`,
  { id: text, name: text, scopes: texts },
  {},
)

/**
 * Registers the platform's client under which the portal calls. At start-up, not in a migration: it is only needed where the
 * portal is served, and comes back when an operator has removed it. A team's client with this id keeps it, and the portal is
 * refused.
 */
export async function registerPortal(db: Database) {
  await db.execute(register, { id: CLIENT, name: 'Developer portal', scopes })
}

export type Developer = ReturnType<typeof developerFor>

export const developerFor = (core: Core, person: string, countPeople: Call['countPeople']) =>
  callAs(core, { member: person, organisation: '', client: CLIENT, scopes: new Set(scopes) }, { countPeople }).developer

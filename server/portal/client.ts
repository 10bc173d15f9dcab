import type { Database } from '../../prisma/client.ts'
import type { Core } from '../../routers/context.ts'
import { callAs } from '../../routers/core.ts'
import type { FirstPartyScope } from '../../routers/scopes.ts'

const CLIENT = 'developer-portal'
const scopes: FirstPartyScope[] = ['dev:read', 'dev:write']

/**
 * Registers the platform's client under which the portal calls. At start, not in a migration: it is needed only where the
 * portal is served, and comes back when an operator has removed it. A team's client with this id keeps it, and the portal is refused.
 */
export async function registerPortal(db: Database) {
  const data = { id: CLIENT, name: 'Developer portal', environment: 'production', scopes } as const
  await db.client.createMany({ data: [{ ...data, scopes: [...scopes] }], skipDuplicates: true })
}

export type Developer = ReturnType<typeof developerFor>

/** The procedures of the portal for a person who has signed in. */
export const developerFor = (core: Core, person: string) =>
  callAs(core, { member: person, organisation: '', client: CLIENT, scopes: new Set(scopes) }).developer

import { DbNull } from '@prisma/client-runtime-utils'
import type { Database } from '../../prisma/client.ts'
import { markApp, markTeam } from '../../routers/developer/deletion/schedule.ts'
import { ApiError } from '../../routers/kernel/errors.ts'
import type { Removal } from '../../routers/kernel/removal.ts'
import { erase } from '../../routers/personal-data/erase.ts'
import { removeClient } from './clients.ts'

/** Returns false when there was nothing left to remove. `computeMarks` gives a person's keyed hashes. */
export async function repeatRemoval(
  db: Database,
  removal: Removal,
  computeMarks: (person: string) => Promise<string[]>,
): Promise<boolean> {
  switch (removal.repeat) {
    case 'member.erase':
      return erase(db, removal.person, await computeMarks(removal.person)).then(
        () => true,
        (error) => {
          if (error instanceof ApiError && error.status === 404) return false
          throw error
        },
      )
    case 'client.remove':
      return (await removeClient(db, removal.client)) !== null
    case 'client.credentials': {
      const { client, secretHash, jwks } = removal
      const where = { id: client, teamId: null }
      return (await db.client.updateMany({ where, data: { secretHash, jwks: jwks ?? DbNull } })).count > 0
    }
    case 'secret.remove':
      return (await db.clientSecret.deleteMany({ where: { id: removal.secret, clientId: removal.client } })).count > 0
    case 'client.authentication': {
      const { client, authentication, jwks } = removal
      const where = { id: client, teamId: { not: null }, type: 'web' as const }
      const data = { authentication, jwks: jwks ?? DbNull, version: { increment: 1 } }
      return (await db.client.updateMany({ where, data })).count > 0
    }
    case 'app.ending':
      return (await db.$transaction((tx) => markApp(tx, removal.app, toDate(removal.endsAt)))).count > 0
    case 'team.ending':
      return (await db.$transaction((tx) => markTeam(tx, removal.team, toDate(removal.endsAt)))).count > 0
    // The next start creates a key if none is left.
    case 'key.revoke': {
      const where = { kid: removal.key }
      const deleted = [db.signingKey.deleteMany({ where }), db.rsaSigningKey.deleteMany({ where })]
      return (await Promise.all([...deleted, db.cardKey.deleteMany({ where })])).some(({ count }) => count > 0)
    }
  }
}

const toDate = (time: string | null) => (time === null ? null : new Date(time))

export function describeRemoval(removal: Removal): string {
  const { repeat: _, ...of } = removal
  return `${removal.repeat} ${Object.values(of)[0]}`
}

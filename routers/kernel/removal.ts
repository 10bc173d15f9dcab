import { z } from 'zod'
import { ClientAuthentication } from '../../prisma/generated/enums.ts'

/**
 * What must not come back with an older backup. The log has a line of JSON for each, with its `time`, and after a
 * restore it is repeated from there (server/admin/repeat-removals.ts).
 */
export const removal = z.discriminatedUnion('repeat', [
  z.object({ repeat: z.literal('member.erase'), person: z.string() }),
  z.object({ repeat: z.literal('client.remove'), client: z.string() }),
  /** A first-party client's current credentials: the hash of its secret, or its public keys. */
  z.object({
    repeat: z.literal('client.credentials'),
    client: z.string(),
    secretHash: z.string().nullable(),
    jwks: z.object({ keys: z.array(z.record(z.string(), z.string())) }).nullable(),
  }),
  z.object({ repeat: z.literal('secret.remove'), client: z.string(), secret: z.string() }),
  /** How a team's client authenticates now: former keys, and a request without authentication, must not work again. */
  z.object({
    repeat: z.literal('client.authentication'),
    client: z.string(),
    authentication: z.enum(ClientAuthentication),
    jwks: z.object({ keys: z.array(z.record(z.string(), z.string())) }).nullable(),
  }),
  /** When an app or a team is removed that its team has deleted; null once it is restored. */
  z.object({ repeat: z.literal('app.ending'), app: z.string(), endsAt: z.iso.datetime().nullable() }),
  z.object({ repeat: z.literal('team.ending'), team: z.string(), endsAt: z.iso.datetime().nullable() }),
  z.object({ repeat: z.literal('key.revoke'), key: z.string() }),
])

export type Removal = z.output<typeof removal>

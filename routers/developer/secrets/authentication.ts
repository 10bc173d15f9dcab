import { DbNull } from '@prisma/client-runtime-utils'
import { z } from 'zod'
import type { Transaction } from '../../../prisma/client.ts'
import { ClientAuthentication } from '../../../prisma/generated/enums.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { refuseGrowth } from '../access/bounds.ts'
import { lockTeamAs, teamOfClient } from '../access/roles.ts'
import { auditing, difference, toAuthor } from '../audit/record.ts'
import { clientColumns, toClient } from '../shared/mappers.ts'
import type { KeySet } from '../shared/public-keys.ts'
import { KeyRefused, publicKeySet } from '../shared/public-keys.ts'
import { clientOutput, idOr } from '../shared/schemas.ts'
import { fault, refuseIf } from '../shared/validation.ts'

/** One in use, and the next one while it is rolled out. */
const MAX_KEYS = 2

type Client = ReturnType<typeof toClient>

interface Wanted {
  authentication: ClientAuthentication
  keys: KeySet['keys'] | undefined
}

/** Needs no approval, as it only makes a client safer: a production client cannot go back. */
export const setAuthentication = internal('dev:write', teamPeople, {
  summary: 'Sets how a web client authenticates at the token endpoint',
  fails: ['clientUnknown', 'changedMeanwhile', 'clientNotWeb', 'staysConfidential', 'secretMissing', 'teamFull'],
})
  .input(
    z.object({
      client: idOr('clientUnknown'),
      version: z.int().meta({ description: 'The version that was read; any other is 409' }),
      authentication: z.enum(ClientAuthentication),
      keys: z.string().max(6_000).trim().optional().meta({
        description: 'For private_key_jwt: a JWK set, a JWK, or a public key in PEM; by default the current ones',
      }),
    }),
  )
  .output(clientOutput)
  .mutation(async ({ ctx, input: { client: id, version, authentication, keys } }) => {
    const team = await teamOfClient(ctx, id)
    const wanted: Wanted = { authentication, keys: authentication === 'private_key_jwt' ? parseKeys(keys) : undefined }
    const author = toAuthor(ctx)
    const { client, isChanged } = await auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeamAs(tx, ctx, { team, unknown: errors.clientUnknown })
      const select = clientColumns(ctx.core.now())
      const found = await tx.client.findUnique({ where: { id }, select })
      if (!found) throw errors.clientUnknown()
      if (version !== found.version) throw errors.changedMeanwhile()
      const before = toClient(found)
      const next = computeNext(before, wanted)
      const differing = difference(before, { ...before, ...next })
      if (!differing) return { client: before, isChanged: false }
      await refuseUnfit(tx, before, authentication, author.at)
      const jwks = next.keys ? { keys: next.keys } : DbNull
      const data = { authentication, jwks, version: { increment: 1 } }
      const after = toClient(await tx.client.update({ where: { id }, data, select }))
      await refuseGrowth(tx, team, before, after)
      await note({ team, action: 'client.setAuthentication', target: id, ...differing })
      return { client: after, isChanged: true }
    })
    const jwks = client.keys ? { keys: client.keys } : null
    if (isChanged) ctx.core.removed({ repeat: 'client.authentication', client: id, authentication, jwks })
    return client
  })

/** Undefined where the client keeps its own. Throws 400. */
function parseKeys(text: string | undefined): KeySet['keys'] | undefined {
  if (text === undefined) return undefined
  try {
    const { keys } = publicKeySet(text)
    if (keys.length > MAX_KEYS) throw new KeyRefused('tooMany')
    return keys
  } catch (error) {
    if (error instanceof KeyRefused) refuseIf([fault('keys', 'publicKey', error.reason)])
    throw error
  }
}

function computeNext(before: Client, { authentication, keys }: Wanted) {
  if (authentication !== 'private_key_jwt') return { authentication, keys: null }
  const next = keys ?? before.keys
  if (!next) refuseIf([fault('keys', 'publicKey', 'missing')])
  return { authentication, keys: next }
}

async function refuseUnfit(
  tx: Transaction,
  { id, type, environment, authentication: before }: Client,
  authentication: ClientAuthentication,
  at: Date,
) {
  if (authentication !== 'none' && type !== 'web') throw errors.clientNotWeb()
  if (authentication === 'none' && environment === 'production') throw errors.staysConfidential()
  // Without one, nobody could sign in any more.
  if (authentication === 'client_secret' && before !== 'client_secret') {
    const valid = await tx.clientSecret.count({ where: { clientId: id, expiresAt: { gt: at } } })
    if (valid === 0) throw errors.secretMissing()
  }
}

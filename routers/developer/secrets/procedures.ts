import { z } from 'zod'
import type { Prisma } from '../../../prisma/generated/client.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { DAY_MS, toUnix } from '../../kernel/time.ts'
import { router } from '../../kernel/trpc.ts'
import { lockTeamAs, teamOfClient } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { newId } from '../shared/names.ts'
import { idOr, secretOutput } from '../shared/schemas.ts'
import { hashOfSecret, newClientSecret } from './client-secret.ts'

/** One in use, and the next one while it is rolled out. */
const MAX_VALID = 2
export const LIVES = [90, 180, 365] as const
export const DEFAULT_LIFE = 180

const secretColumns = {
  id: true,
  createdAt: true,
  expiresAt: true,
  lastUsedAt: true,
} satisfies Prisma.ClientSecretSelect

type Row = Prisma.ClientSecretGetPayload<{ select: typeof secretColumns }>

const toSecret = ({ id, createdAt, expiresAt, lastUsedAt }: Row) => ({
  id,
  createdAt: toUnix(createdAt),
  expiresAt: toUnix(expiresAt),
  lastUsedAt: lastUsedAt && toUnix(lastUsedAt),
})

const client = idOr('clientUnknown')

const create = internal('dev:write', teamPeople, {
  summary: 'Creates a secret of a web client, and returns it once',
  fails: ['clientUnknown', 'clientNotWeb', 'tooManySecrets'],
})
  .input(
    z.object({
      client,
      days: z
        .literal(LIVES, { error: 'days is 90, 180 or 365.' })
        .default(DEFAULT_LIFE)
        .meta({ description: 'How long it is valid' }),
    }),
  )
  .output(secretOutput.extend({ secret: z.string().meta({ description: 'Only its hash is stored' }) }))
  .mutation(async ({ ctx, input: { client: clientId, days } }) => {
    const team = await teamOfClient(ctx, clientId)
    const author = toAuthor(ctx)
    const secret = newClientSecret()
    const created = await auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeamAs(tx, ctx, { team, unknown: errors.clientUnknown })
      const found = await tx.client.findUnique({ where: { id: clientId }, select: { type: true } })
      if (!found) throw errors.clientUnknown()
      if (found.type !== 'web') throw errors.clientNotWeb()
      const valid = await tx.clientSecret.count({ where: { clientId, expiresAt: { gt: author.at } } })
      if (valid >= MAX_VALID) throw errors.tooManySecrets()
      const expiresAt = new Date(author.at.getTime() + days * DAY_MS)
      const row = await tx.clientSecret.create({
        data: { id: newId('s'), clientId, hash: hashOfSecret(secret), createdAt: author.at, expiresAt },
        select: secretColumns,
      })
      await note({ team, action: 'secret.create', target: clientId, after: { secret: row.id, expiresAt } })
      return row
    })
    return { ...toSecret(created), secret }
  })

const remove = internal('dev:write', teamPeople, {
  summary: 'Removes a secret, which is refused from then on',
  fails: ['clientUnknown', 'clientSecretUnknown'],
})
  .input(z.object({ client, secret: idOr('clientSecretUnknown') }))
  .output(z.object({ client: z.string(), secret: z.string() }))
  .mutation(async ({ ctx, input: { client: clientId, secret: id } }) => {
    const team = await teamOfClient(ctx, clientId)
    await auditing(ctx.core.db, toAuthor(ctx), async (tx, note) => {
      await lockTeamAs(tx, ctx, { team, unknown: errors.clientUnknown })
      const found = await tx.clientSecret.findUnique({ where: { id, clientId }, select: secretColumns })
      if (!found) throw errors.clientSecretUnknown()
      await tx.clientSecret.delete({ where: { id }, select: { id: true } })
      const { expiresAt, lastUsedAt } = found
      await note({ team, action: 'secret.remove', target: clientId, before: { secret: id, expiresAt, lastUsedAt } })
    })
    ctx.core.removed({ repeat: 'secret.remove', client: clientId, secret: id })
    return { client: clientId, secret: id }
  })

export const secrets = router({ create, remove })

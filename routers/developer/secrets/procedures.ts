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
      use: z.boolean().default(false).meta({
        description: 'A public client authenticates with its secrets from now on; until then they do nothing',
      }),
    }),
  )
  .output(
    secretOutput.extend({
      secret: z.string().meta({ description: 'Only its hash is stored' }),
      used: z.boolean().meta({ description: 'Whether the client authenticates with its secrets' }),
    }),
  )
  .mutation(async ({ ctx, input: { client: clientId, days, use } }) => {
    const team = await teamOfClient(ctx, clientId)
    const author = toAuthor(ctx)
    const secret = newClientSecret()
    const authentication = 'client_secret'
    const { row, isSwitched, used } = await auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeamAs(tx, ctx, { team, unknown: errors.clientUnknown })
      const found = await tx.client.findUnique({
        where: { id: clientId },
        select: { type: true, authentication: true },
      })
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
      const { authentication: before } = found
      const isSwitched = use && before === 'none'
      if (isSwitched) {
        const data = { authentication, version: { increment: 1 } } as const
        await tx.client.update({ where: { id: clientId }, data, select: { id: true } })
        const values = { before: { authentication: before }, after: { authentication } }
        await note({ team, action: 'client.setAuthentication', target: clientId, ...values })
      }
      return { row, isSwitched, used: isSwitched || before === authentication }
    })
    if (isSwitched) ctx.core.removed({ repeat: 'client.authentication', client: clientId, authentication, jwks: null })
    return { ...toSecret(row), secret, used }
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

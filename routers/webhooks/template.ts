import { nullable, oneOf, statement, text } from '../../prisma/pg/statement.ts'
import { associatedData } from '../kernel/cipher.ts'
import type { Context, Core } from '../kernel/context.ts'
import { errors } from '../kernel/errors.ts'
import { seal } from '../kernel/secrets-key.ts'
import type { Former, Secrets } from './stored-secrets.ts'
import { columnsOfApp, formerBeside, noFormer } from './stored-secrets.ts'

/** The columns of an app's secrets. */
export interface TemplateSecrets extends Former {
  webhookSecret: string | null
  secretSetAt: Date | null
}

export interface Template extends TemplateSecrets {
  webhookUrl: string | null
}

export const noTemplate: Template = { webhookUrl: null, webhookSecret: null, secretSetAt: null, ...noFormer }

/** What `secretsOf` reads. */
export const secretColumns = { webhookSecret: true, formerSecret: true, formerUntil: true } as const

export const secretsOf = ({
  webhookSecret: secret,
  formerSecret,
  formerUntil,
}: Pick<TemplateSecrets, keyof typeof secretColumns>): Secrets => ({ secret, formerSecret, formerUntil })

/**
 * Returns the columns to store when a secret replaces the stored one. Those of the former secret are missing where it stays as it
 * is. Throws 503 as `seal` does.
 */
export async function sealedSecret(core: Core, app: string, secret: string) {
  const webhookSecret = await seal(core, secret, associatedData.template(app))
  const secretSetAt = new Date(core.now())
  return ({ webhookSecret: stored }: Pick<TemplateSecrets, 'webhookSecret'>) => ({
    webhookSecret,
    secretSetAt,
    ...formerBeside(core, columnsOfApp(app), stored, secret),
  })
}

/** An app of another team or provider is as unknown as one that does not exist. */
const OWN = 'id = $1 AND "teamId" = $2 AND "providerId" = $3'

/** Through Prisma, a whole request takes 1.7 to 2.3 times the CPU time (npm run bench). */
const statements = {
  read: statement('webhook_read', `SELECT state, "webhookUrl", "webhookSecret" FROM "App" WHERE ${OWN}`, {
    state: oneOf('active', 'suspended'),
    webhookUrl: nullable(text),
    webhookSecret: nullable(text),
  }),
  clear: statement(
    'webhook_clear',
    `UPDATE "App" SET "webhookUrl" = $4, "webhookSecret" = NULL, "secretSetAt" = NULL, "formerSecret" = NULL,
        "formerUntil" = NULL
      WHERE ${OWN} AND state = 'active' RETURNING id`,
    { id: text },
  ),
  /** Only while the secret is the one that was read, $5. $8: whether the former secret changes too. */
  set: statement(
    'webhook_set',
    `UPDATE "App" SET "webhookUrl" = $4, "webhookSecret" = $6, "secretSetAt" = $7::timestamptz,
        "formerSecret" = CASE WHEN $8::bool THEN $9 ELSE "formerSecret" END,
        "formerUntil" = CASE WHEN $8::bool THEN $10::timestamptz ELSE "formerUntil" END
      WHERE ${OWN} AND state = 'active' AND "webhookSecret" IS NOT DISTINCT FROM $5 RETURNING id`,
    { id: text },
  ),
}

type Granted = Context & { provider: string; team: string; suspended: boolean }

export async function readTemplate({ core, team, provider }: Granted, id: string) {
  const [found] = await core.db.execute(statements.read, [id, team, provider])
  if (!found) throw errors.appUnknown()
  return found
}

/** One statement, so that an app which is suspended meanwhile changes before that or not at all. A suspended app changes none. */
export async function setWithoutSecret(ctx: Granted, id: string, url: string | null) {
  const { core, team, provider, suspended } = ctx
  const cleared = suspended ? [] : await core.db.execute(statements.clear, [id, team, provider, url])
  if (cleared.length === 1) return
  await readTemplate(ctx, id)
  throw errors.appSuspended()
}

/** If the secret changes meanwhile, it is read again: the one before the last is the former one. */
export async function setWithSecret(ctx: Granted, id: string, url: string, secret: string) {
  const { core, team, provider, suspended } = ctx
  const replace = await sealedSecret(core, id, secret)
  for (;;) {
    const stored = await readTemplate(ctx, id)
    if (suspended || stored.state === 'suspended') throw errors.appSuspended()
    const { webhookSecret, secretSetAt, formerSecret, formerUntil } = replace(stored)
    const replaced = await core.db.execute(statements.set, [
      ...[id, team, provider, url, stored.webhookSecret, webhookSecret, secretSetAt.toISOString()],
      ...[String(formerSecret !== undefined), formerSecret ?? null, formerUntil?.toISOString() ?? null],
    ])
    if (replaced.length === 1) return
  }
}

import { bool, instant, nullable, oneOf, statement, text } from '../../prisma/pg/statement.ts'
import { associatedData } from '../kernel/cipher.ts'
import type { Context, Core } from '../kernel/context.ts'
import { errors } from '../kernel/errors.ts'
import { seal } from '../kernel/secrets-key.ts'
import { requireSameOrigin } from './rules.ts'
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

/** What `pickSecrets` reads. */
export const secretColumns = { webhookSecret: true, formerSecret: true, formerUntil: true } as const

export const pickSecrets = ({
  webhookSecret: secret,
  formerSecret,
  formerUntil,
}: Pick<TemplateSecrets, keyof typeof secretColumns>): Secrets => ({ secret, formerSecret, formerUntil })

/** How the API shows a webhook. */
export const showTemplate = <Url extends string | null>({
  webhookUrl,
  webhookSecret,
}: {
  webhookUrl: Url
  webhookSecret: string | null
}) => ({ url: webhookUrl, hasSecret: webhookSecret !== null })

/** What a webhook becomes. A secret that is null is removed, and one that is missing stays. */
export interface WantedWebhook<Url extends string | null = string | null> {
  url: Url
  secret?: string | null | undefined
}

/** The columns of a changed webhook. Those of the former secret are missing where it stays as it is. */
type NextTemplate<Url> = Omit<Template, 'webhookUrl' | keyof Former> & Partial<Former> & { webhookUrl: Url }

type Stored = Pick<Template, 'webhookUrl' | 'webhookSecret'> & Partial<Pick<Template, 'secretSetAt'>>

/**
 * Encrypts the secret, and returns what a stored webhook becomes with it. Throws 503 as `seal` does, and what it returns 400 where
 * the stored secret would go to another origin.
 */
export async function prepareTemplate<Url extends string | null>(
  core: Core,
  app: string,
  { url: webhookUrl, secret }: WantedWebhook<Url>,
): Promise<(stored: Stored) => NextTemplate<Url>> {
  if (secret === null) {
    const cleared = { webhookUrl, webhookSecret: null, secretSetAt: null, formerSecret: null, formerUntil: null }
    return () => cleared
  }
  if (secret === undefined) {
    return ({ webhookUrl: before, webhookSecret, secretSetAt = null }) => {
      if (webhookSecret !== null) requireSameOrigin(before, webhookUrl)
      return { webhookUrl, webhookSecret, secretSetAt }
    }
  }
  const webhookSecret = await seal(core, secret, associatedData.template(app))
  const secretSetAt = new Date(core.now())
  return ({ webhookSecret: stored }) => ({
    webhookUrl,
    webhookSecret,
    secretSetAt,
    ...formerBeside(core, columnsOfApp(app), stored, secret),
  })
}

/** An app of another team or provider is as unknown as one that does not exist. */
const OWN = 'id = $id AND "teamId" = $team AND "providerId" = $provider'

interface OwnApp {
  id: string
  team: string
  provider: string
}

/** Through Prisma, a whole request takes 1.7 to 2.3 times the CPU time (npm run bench). */
const statements = {
  read: statement(
    'webhook_read',
    `SELECT state, "webhookUrl", "webhookSecret" FROM "App" WHERE ${OWN}`,
    { id: text, team: text, provider: text },
    {
      state: oneOf('active', 'suspended'),
      webhookUrl: nullable(text),
      webhookSecret: nullable(text),
    },
  ),
  /**
   * One statement, so that an app which is suspended meanwhile changes before that or not at all. A secret is stored only while the
   * one that was read, `stored`, is. `replacesFormer`: whether the former secret changes too.
   */
  set: statement(
    'webhook_set',
    `UPDATE "App" SET "webhookUrl" = $url, "webhookSecret" = $secret, "secretSetAt" = $setAt::timestamptz,
        "formerSecret" = CASE WHEN $replacesFormer::bool THEN $formerSecret ELSE "formerSecret" END,
        "formerUntil" = CASE WHEN $replacesFormer::bool THEN $formerUntil::timestamptz ELSE "formerUntil" END
      WHERE ${OWN} AND state = 'active' AND ($secret::text IS NULL OR "webhookSecret" IS NOT DISTINCT FROM $stored) RETURNING id`,
    {
      id: text,
      team: text,
      provider: text,
      url: nullable(text),
      stored: nullable(text),
      secret: nullable(text),
      setAt: nullable(instant),
      replacesFormer: bool,
      formerSecret: nullable(text),
      formerUntil: nullable(instant),
    },
    { id: text },
  ),
}

type Set = typeof statements.set

/** Runs a statement on a connection of its own, or within a transaction. */
type Run = (set: Set, values: Parameters<Set['encode']>[0]) => Promise<readonly unknown[]>

/** Stores the webhook of an active app in place of the stored one. False where the app or the stored secret is another one. */
export async function writeTemplate(
  run: Run,
  { id, team, provider }: OwnApp,
  stored: Stored,
  { webhookUrl, webhookSecret, secretSetAt, formerSecret, formerUntil }: NextTemplate<string | null>,
): Promise<boolean> {
  const written = await run(statements.set, {
    id,
    team,
    provider,
    url: webhookUrl,
    stored: stored.webhookSecret,
    secret: webhookSecret,
    setAt: secretSetAt ?? null,
    replacesFormer: formerSecret !== undefined,
    formerSecret: formerSecret ?? null,
    formerUntil: formerUntil ?? null,
  })
  return written.length === 1
}

type Granted = Context & { provider: string; team: string; suspended: boolean }

export async function readTemplate({ core, team, provider }: Granted, id: string) {
  const [found] = await core.db.execute(statements.read, { id, team, provider })
  if (!found) throw errors.appUnknown()
  return found
}

/** If the secret changes meanwhile, it is read again: the one before the last is the former one. A suspended app changes none. */
export async function setTemplate(ctx: Granted, id: string, wanted: WantedWebhook & { secret: string | null }) {
  const { core, team, provider, suspended } = ctx
  const next = await prepareTemplate(core, id, wanted)
  const write = (stored: Stored) => writeTemplate(core.db.execute, { id, team, provider }, stored, next(stored))
  // Without a secret there is nothing to compare, so nothing to read.
  if (wanted.secret === null && !suspended && (await write(noTemplate))) return
  for (;;) {
    const stored = await readTemplate(ctx, id)
    if (suspended || stored.state === 'suspended') throw errors.appSuspended()
    if (await write(stored)) return
  }
}

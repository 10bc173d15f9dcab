import { z } from 'zod'
import type { Database, Transaction } from '../../../prisma/client.ts'
import { oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors, withError } from '../../kernel/errors.ts'
import { appId } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { router } from '../../kernel/trpc.ts'
import { entryName } from '../../storage/procedures.ts'
import { lockTeamAs, teamOfApp } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'

const MAX_RULES = 100

/** The rules by which a collection restricts the writers of its shared entries; without a stored one it is `anyone`. */
export const ruleNames = ['anyone', 'author', 'app'] as const

const app = appId('app')
export const rule = z.enum(ruleNames, { error: 'rule is anyone, author or app.' }).meta({
  description: 'Every member (`anyone`), only the `author` of an entry, or only the `app` itself.',
  examples: ['author'],
})
const collectionInput = z.string(withError('nameInvalid')).trim().pipe(entryName).meta({ minLength: 1, maxLength: 64 })
const ruled = z.object({ collection: entryName, rule })

const rulesByApp = statement(
  'collection_rules',
  'SELECT collection, rule FROM "CollectionRule" WHERE "appId" = $app ORDER BY collection',
  { app: text },
  { collection: text, rule: oneOf(...ruleNames) },
)

const list = internal('dev:read', teamPeople, {
  summary: "The collections of an app that not every member may write: at most 100, by their names' bytes",
  fails: ['ownAppUnknown'],
})
  .input(z.object({ app }))
  .output(z.object({ items: z.array(ruled) }))
  .query(async ({ ctx, input: { app } }) => {
    await teamOfApp(ctx, app)
    return { items: await ctx.core.db.execute(rulesByApp, { app }) }
  })

const set = internal('dev:write', teamPeople, {
  summary: "Sets who may write the shared entries of an app's collection, in all clubs",
  fails: ['ownAppUnknown', 'tooManyRules'],
})
  .input(ruled.extend({ app, collection: collectionInput }))
  .output(ruled)
  .mutation(async ({ ctx, input: { app: appId, collection, rule } }) => {
    const team = await teamOfApp(ctx, appId)
    return auditing(ctx.core.db, toAuthor(ctx), async (tx, note) => {
      await lockTeamAs(tx, ctx, { team, unknown: errors.ownAppUnknown })
      const change = await setRule(tx, { appId, collection, rule })
      if (change) await note({ team, ...change })
      return { collection, rule }
    })
  })

type Rule = z.infer<typeof rule>

export async function findRule(db: Database | Transaction, of: { appId: string; collection: string }): Promise<Rule> {
  const stored = await db.collectionRule.findUnique({ where: { of } })
  return stored ? rule.parse(stored.rule) : 'anyone'
}

/** The change for the audit log; undefined if nothing changes. The team is locked. Throws 409. */
export async function setRule(
  tx: Transaction,
  { appId, collection, rule }: { appId: string; collection: string; rule: Rule },
) {
  const of = { appId, collection }
  const before = await findRule(tx, of)
  if (before === rule) return undefined
  if (rule === 'anyone') await tx.collectionRule.delete({ where: { of } })
  else {
    const isNew = before === 'anyone'
    if (isNew && (await tx.collectionRule.count({ where: { appId } })) >= MAX_RULES) throw errors.tooManyRules()
    await tx.collectionRule.upsert({ where: { of }, create: { ...of, rule }, update: { rule } })
  }
  return { action: 'rule.set' as const, target: appId, before: { rule: before }, after: { collection, rule } }
}

export const rules = router({ list, set })

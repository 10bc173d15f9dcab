import { z } from 'zod'
import { endpoint } from '../../kernel/endpoint.ts'
import { appItself } from '../../kernel/policies.ts'
import { router } from '../../kernel/trpc.ts'
import { collection } from '../../storage/procedures.ts'
import { lockTeam } from '../access/roles.ts'
import { auditing } from '../audit/record.ts'
import { findRule, rule, setRule } from './collection-rules.ts'

const output = z.object({ rule })

const get = endpoint('GET /collections/{collection}/rules', 'svc.apps.storage:read', appItself, {
  section: 'sync',
  summary: 'The rule of a collection',
  description: 'Who may store and remove shared entries of the collection, in all clubs. For tokens of the app itself.',
  returns: 'The rule of the collection.',
})
  .input(z.object({ collection }))
  .output(output)
  .query(async ({ ctx: { core, app: appId }, input: { collection } }) => ({
    rule: await findRule(core.db, { appId, collection }),
  }))

const put = endpoint('PUT /collections/{collection}/rules', 'svc.apps.storage:write', appItself, {
  section: 'sync',
  summary: 'Sets the rule of a collection',
  description:
    'Sets who may store and remove shared entries of the collection, in all clubs, within 5 seconds. For tokens of the app itself; the change is in the audit log of the team.',
  returns: 'The rule is set.',
  insertsRow: true,
  audited: true,
  fails: ['tooManyRules'],
})
  .input(z.object({ collection, rule }))
  .output(output)
  .mutation(async ({ ctx: { core, app: appId, client, team }, input: { collection, rule } }) => {
    const author = { person: null, client, at: new Date(core.now()) }
    return auditing(core.db, author, async (tx, note) => {
      await lockTeam(tx, team)
      const change = await setRule(tx, { appId, collection, rule })
      if (change) await note({ team, ...change })
      return { rule }
    })
  })

/** What an app's server does with the rules of its own app. */
export const ownRules = router({ get, put })

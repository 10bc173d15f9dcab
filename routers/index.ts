import { z } from 'zod'
import { approvals } from './approvals/procedures.ts'
import { calendar } from './calendar/procedures.ts'
import { ownAddresses } from './developer/addresses/api.ts'
import { ownRules } from './developer/data/collection-rules-api.ts'
import { developer } from './developer/procedures.ts'
import { directory } from './directory/procedures.ts'
import { endpoint } from './kernel/endpoint.ts'
import { anyone } from './kernel/policies.ts'
import { mergeRouters, router } from './kernel/trpc.ts'
import { listProcedures } from './kernel/trpc-internals.ts'
import { card, me } from './me/procedures.ts'
import { dataRequests } from './personal-data/requests.ts'
import { quizzes } from './quizzes/procedures.ts'
import { storage } from './storage/procedures.ts'
import { wholeStorage } from './sync/procedures.ts'
import { deliveries } from './webhooks/deliveries/procedures.ts'
import { events } from './webhooks/events.ts'
import { subscriptions } from './webhooks/subscriptions.ts'
import { webhook } from './webhooks/webhook.ts'

const root = endpoint('GET /', null, anyone, {
  summary: 'The API and the club of the token',
  description: 'Shows whether a token works, and for which club. Any valid token will do: no scope is needed.',
  returns: 'The API and the club.',
})
  .output(
    z.object({
      api: z.literal('apps').meta({ description: 'Always `apps`.', examples: ['apps'] }),
      organisation: z
        .string()
        .meta({ description: 'Id of the club that the token was issued for.', examples: ['seaside'] }),
    }),
  )
  .query(({ ctx: { organisation } }) => ({ api: 'apps' as const, organisation }))

export const appRouter = router({
  root,
  me,
  calendar,
  card,
  storage: mergeRouters(storage, wholeStorage, router({ rules: ownRules })),
  quizzes,
  webhook,
  subscriptions,
  events,
  deliveries,
  addresses: ownAddresses,
  directory: mergeRouters(directory, router({ approvals, dataRequests })),
  developer,
})

export type AppRouter = typeof appRouter

/** Procedures by path, e.g. `storage.put`. */
export const procedures = listProcedures(appRouter)

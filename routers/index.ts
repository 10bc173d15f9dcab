import { approvals } from './approvals/procedures.ts'
import { ownRules } from './developer/data/collection-rules-api.ts'
import { developer } from './developer/procedures.ts'
import { directory } from './directory/procedures.ts'
import { mergeRouters, router } from './kernel/trpc.ts'
import { listProcedures } from './kernel/trpc-internals.ts'
import { me } from './me/procedures.ts'
import { quizzes } from './quizzes/procedures.ts'
import { root } from './root.ts'
import { storage } from './storage/procedures.ts'
import { wholeStorage } from './sync/procedures.ts'
import { deliveries } from './webhooks/deliveries/procedures.ts'
import { events } from './webhooks/events.ts'
import { subscriptions } from './webhooks/subscriptions.ts'
import { webhook } from './webhooks/webhook.ts'

export const appRouter = router({
  root,
  me,
  storage: mergeRouters(storage, wholeStorage, router({ rules: ownRules })),
  quizzes,
  webhook,
  subscriptions,
  events,
  deliveries,
  directory: mergeRouters(directory, router({ approvals })),
  developer,
})

export type AppRouter = typeof appRouter

/** Procedures by path, e.g. `storage.put`. */
export const procedures = listProcedures(appRouter)

import type { AnyProcedure } from '@trpc/server'
import { developer } from './clients/procedures.ts'
import { directory } from './directory/procedures.ts'
import { router } from './kernel/trpc.ts'
import { me } from './me/procedures.ts'
import { quizzes } from './quizzes/procedures.ts'
import { root } from './root.ts'
import { storage } from './storage/procedures.ts'
import { deliveries } from './webhooks/deliveries/procedures.ts'
import { events } from './webhooks/events.ts'
import { subscriptions } from './webhooks/subscriptions.ts'
import { webhook } from './webhooks/template.ts'

export const appRouter = router({
  root,
  me,
  storage,
  quizzes,
  webhook,
  subscriptions,
  events,
  deliveries,
  directory,
  developer,
})

export type AppRouter = typeof appRouter

/** Procedures by path, e.g. `storage.put`. tRPC stores them flat at run time; its type has them nested. */
export const procedures = appRouter._def.procedures as unknown as Readonly<Record<string, AnyProcedure>>

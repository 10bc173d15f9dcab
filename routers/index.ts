import type { AnyProcedure } from '@trpc/server'
import { deliveries } from './deliveries/index.ts'
import { developer } from './developer/index.ts'
import { directory } from './directory/index.ts'
import { events } from './events.ts'
import { me } from './me/index.ts'
import { quizzes } from './quizzes/index.ts'
import { root } from './root.ts'
import { storage } from './storage/index.ts'
import { subscriptions } from './subscriptions.ts'
import { router } from './trpc.ts'
import { webhook } from './webhook/index.ts'

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

/** For typed clients: `createTRPCClient<AppRouter>(…)`. */
export type AppRouter = typeof appRouter

/** Every procedure by its path, e.g. `storage.put`. tRPC keeps them flat at runtime; its type has them nested. */
export const procedures = appRouter._def.procedures as unknown as Readonly<Record<string, AnyProcedure>>

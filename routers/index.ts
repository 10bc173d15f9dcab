import { me } from './me/index.ts'
import { quizzes } from './quizzes/index.ts'
import { root } from './root.ts'
import { storage } from './storage/index.ts'
import { router } from './trpc.ts'
import { webhook } from './webhook/index.ts'

export const appRouter = router({ root, me, storage, quizzes, webhook })

/** What a first-party app needs for its types: `createTRPCClient<AppRouter>(…)`. */
export type AppRouter = typeof appRouter

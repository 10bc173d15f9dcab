import { memberRoutes } from './member.ts'
import { otherRoutes } from './other.ts'
import { quizRoute } from './quiz.ts'
import type { BenchedRoute } from './route.ts'
import { storageRoutes } from './storage.ts'
import { tokenRoutes } from './tokens.ts'

export const routes: Record<string, BenchedRoute> = {
  ...storageRoutes,
  ...memberRoutes,
  quiz: quizRoute,
  ...otherRoutes,
}

export const rowGroups: Record<string, string[]> = {
  storage: Object.keys(storageRoutes),
  me: Object.keys(memberRoutes),
  rest: Object.keys(routes),
  // Beside oidc-provider alone.
  tokens: Object.keys(tokenRoutes),
  // Over tRPC, compared with REST.
  trpc: Object.keys(routes).map((name) => `trpc-${name}`),
}

export const FASTIFY = [...rowGroups.storage!, ...rowGroups.me!, 'quiz']
export const PARSE = ['get', 'put', 'list']

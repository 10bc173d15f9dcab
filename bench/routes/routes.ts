import { memberRoutes } from './member.ts'
import { otherRoutes } from './other.ts'
import { pages } from './pages.ts'
import { publicRoutes } from './public.ts'
import { quizRoute } from './quiz.ts'
import type { BenchedRoute } from './route.ts'
import { storageRoutes } from './storage.ts'
import { tokenRoutes } from './tokens.ts'

const procedures: Record<string, BenchedRoute> = {
  ...storageRoutes,
  ...memberRoutes,
  quiz: quizRoute,
  ...otherRoutes,
}
export const routes = { ...procedures, ...publicRoutes }

export const rowGroups: Record<string, string[]> = {
  storage: Object.keys(storageRoutes),
  me: Object.keys(memberRoutes),
  rest: Object.keys(procedures),
  // Beside oidc-provider alone.
  tokens: Object.keys(tokenRoutes),
  // The first ones have a bare handler, the others a limit.
  pages: [...Object.keys(publicRoutes), ...Object.keys(pages)],
  // By tools and over tRPC, compared with REST.
  mcp: ['mcp-get'],
  trpc: Object.keys(procedures).map((name) => `trpc-${name}`),
}

export const FASTIFY = [...rowGroups.storage!, ...rowGroups.me!, 'quiz']
export const PARSE = ['get', 'put', 'list']

import { z } from 'zod'
import { anyone, endpoint } from './trpc.ts'

/** GET /: which API this is, and the club of the token. */
export const root = endpoint('GET /', null, anyone, { summary: 'The API and the club of the token' })
  .output(z.object({ api: z.literal('apps'), organisation: z.string() }))
  .query(({ ctx }) => ({ api: 'apps' as const, organisation: ctx.principal.organisation }))

import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { anyone } from './policies.ts'

export const root = endpoint('GET /', null, anyone, { summary: 'The API and the club of the token' })
  .output(z.object({ api: z.literal('apps'), organisation: z.string() }))
  .query(({ ctx: { organisation } }) => ({ api: 'apps' as const, organisation }))

import { z } from 'zod'
import { endpoint } from './kernel/endpoint.ts'
import { anyone } from './kernel/policies.ts'

export const root = endpoint('GET /', null, anyone, {
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

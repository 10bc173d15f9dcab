import { z } from 'zod'
import { idOr } from '../developer/shared/schemas.ts'
import { internal } from '../kernel/endpoint.ts'
import { errors } from '../kernel/errors.ts'
import { page } from '../kernel/page.ts'
import { directoryPlatform } from '../kernel/policies.ts'
import { toUnix } from '../kernel/time.ts'
import { router } from '../kernel/trpc.ts'
import { decide, reasonFault, reasonSentence } from './decide.ts'

const time = z.int().nullable().meta({ description: 'Unix seconds' })

const approval = z.object({
  club: z.string(),
  app: z.string(),
  state: z.enum(['requested', 'approved', 'refused', 'withdrawn']),
  reason: z.string().nullable(),
  requestedAt: time.meta({ description: 'When a member first asked, in Unix seconds' }),
  decidedAt: time,
  decidedBy: z.string().nullable().meta({ description: 'The administrator; null for the platform' }),
})

const list = internal('directory:read', directoryPlatform, {
  summary: 'What clubs have decided about apps, and have been asked, in the order of the changes',
})
  .input(
    z.object({
      after: z.int().min(0).default(0).meta({ description: '`cursor` of the last call: the changes since then' }),
      limit: page.limit,
    }),
  )
  .output(z.object({ items: z.array(approval), cursor: z.int(), more: z.boolean() }))
  .query(async ({ ctx: { core }, input: { after, limit } }) => {
    const rows = await core.db.clubApproval.findMany({
      where: { number: { gt: after } },
      orderBy: { number: 'asc' },
      take: limit + 1,
    })
    const shown = rows.slice(0, limit)
    const items = shown.map(({ organisationId, appId, state, reason, requestedAt, decidedAt, decidedBy }) => ({
      club: organisationId,
      app: appId,
      state,
      reason,
      decidedBy,
      requestedAt: requestedAt && toUnix(requestedAt),
      decidedAt: decidedAt && toUnix(decidedAt),
    }))
    return { items, cursor: Number(shown.at(-1)?.number ?? after), more: rows.length > limit }
  })

const set = internal('directory:write', directoryPlatform, {
  summary: 'Decides for a club whether its members may allow an app',
  fails: ['clubUnknown', 'ownAppUnknown', 'changedMeanwhile'],
})
  .input(
    z.object({
      club: idOr('clubUnknown'),
      app: idOr('ownAppUnknown'),
      state: z.enum(['approved', 'refused', 'withdrawn']),
      reason: z
        .string()
        .trim()
        .refine((text) => !reasonFault(text), { error: ({ input }) => reasonSentence(String(input)) })
        .optional()
        .meta({ description: 'Required of a refusal; the app’s team reads it' }),
    }),
  )
  .output(z.object({ ended: z.int().meta({ description: 'Consents of members that ended with it' }) }))
  .mutation(async ({ ctx: { core }, input: { reason = null, ...decision } }) => {
    const { state } = decision
    if (state === 'refused' && reason === null) throw errors.inputInvalid(400, 'A refusal needs a reason.')
    if (state === 'approved' && reason !== null) throw errors.inputInvalid(400, 'An approval has no reason.')
    const by = { administrator: null, at: new Date(core.now()) }
    const ended = await decide(core.db, { ...decision, reason }, by)
    if (ended > 0) core.due.wake()
    return { ended }
  })

export const approvals = router({ list, set })

import { z } from 'zod'
import { endpoint } from '../kernel/endpoint.ts'
import { errors } from '../kernel/errors.ts'
import { clubMember } from '../kernel/policies.ts'
import { router } from '../kernel/trpc.ts'
import { CALENDAR_SCOPE, createFeed, toAddress } from './feeds.ts'

const create = endpoint('POST /calendar', CALENDAR_SCOPE, clubMember, {
  section: 'sync',
  status: 201,
  summary: "An address for the member's calendar program",
  description:
    'Creates an address at which calendar programs (Google, Apple, Outlook) read the events of `GET /me/events`, a year back and ahead, as iCalendar. Whoever has it can read them: give it to the member alone. It is returned once, and each call makes another; of a consent, the last 10 work. An address ends with the consent, the membership, or when the member removes it.',
  returns: 'The address.',
})
  .output(
    z.object({
      url: z.string().meta({
        description: 'The address; `webcal:` in place of `https:` opens a calendar program on most devices.',
        examples: ['https://auth.example.org/calendar/jZ3xMfE0mS0v1yqk2nP4rQ.ics'],
      }),
      expiresAt: z.null().meta({ description: 'Always null: the address does not expire.', examples: [null] }),
    }),
  )
  .mutation(async ({ ctx: { core, call, member, club } }) => {
    if (core.authBaseUrl === undefined) throw errors.addressUnknown()
    const subscriber = { member, club, grant: call.principal.grant ?? null }
    const secret = await createFeed(core.db, subscriber, core.now())
    return { url: toAddress(core.authBaseUrl, secret), expiresAt: null }
  })

/** Beyond the documents, at the host `sync`. */
export const calendar = router({ create })

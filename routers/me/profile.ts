import { z } from 'zod'
import { errors } from '../errors.ts'
import { toPlainDate } from '../time.ts'
import { clubMembers, endpoint } from '../trpc.ts'

const member = z.object({
  id: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  email: z.string(),
  birthday: z.iso.date().nullable().meta({ description: 'null when none is stored' }),
  image: z.string().meta({ description: 'image URL; empty when there is no image' }),
})

/** The Profile record: of the member of the token, and of nobody else. */
export const profile = endpoint('GET /me/profile', 'svc.me.profile:read', clubMembers, { summary: 'The member' })
  .output(member)
  .query(async ({ ctx }) => {
    const person = await ctx.db.person.findUnique({ where: { id: ctx.member } })
    // Removed in the seconds for which the membership is remembered.
    if (!person) throw errors.memberUnknown('club')
    return { ...person, birthday: person.birthday && toPlainDate(person.birthday) }
  })

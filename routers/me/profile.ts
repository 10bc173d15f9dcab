import { z } from 'zod'
import { endpoint } from '../endpoint.ts'
import { errors } from '../errors.ts'
import { clubMember } from '../policies.ts'
import { toPlainDate } from '../time.ts'

const profileOutput = z.object({
  id: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  email: z.string(),
  birthday: z.iso.date().nullable().meta({ description: 'null when none is stored' }),
  image: z.string().meta({ description: 'image URL; empty when there is no image' }),
})

/** The profile of the token's member. */
export const profile = endpoint('GET /me/profile', 'svc.me.profile:read', clubMember, { summary: 'The member' })
  .output(profileOutput)
  .query(async ({ ctx: { core, member } }) => {
    const person = await core.db.person.findUnique({ where: { id: member } })
    // The person was deleted while the membership was still cached.
    if (!person) throw errors.memberUnknown('club')
    return { ...person, birthday: person.birthday && toPlainDate(person.birthday) }
  })

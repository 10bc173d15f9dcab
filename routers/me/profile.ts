import { z } from 'zod'
import { date, nullable, statement, text } from '../../prisma/pg/statement.ts'
import { endpoint } from '../kernel/endpoint.ts'
import { errors } from '../kernel/errors.ts'
import { clubMember } from '../kernel/policies.ts'

const profileOutput = z
  .object({
    id: z.string().meta({ description: 'Id of the member, the same in every club.', examples: ['anna'] }),
    firstName: z.string().meta({ description: 'First name.', examples: ['Anna'] }),
    lastName: z.string().meta({ description: 'Last name.', examples: ['Ahlers'] }),
    email: z.string().meta({ description: 'E-mail address.', examples: ['anna@example.org'] }),
    birthday: z.iso
      .date()
      .nullable()
      .meta({ description: 'Birthday; null when none is stored.', examples: ['1990-05-17'] }),
    image: z.string().meta({
      description: 'Address of the picture; empty when there is none.',
      examples: ['https://images.example.org/anna.jpg'],
    }),
  })
  .meta({ title: 'Profile', description: 'The member of the token.' })

const person = statement(
  'me_profile',
  'SELECT id, "firstName", "lastName", email, birthday, image FROM "Person" WHERE id = $member',
  { member: text },
  { id: text, firstName: text, lastName: text, email: text, birthday: nullable(date), image: text },
)

export const profile = endpoint('GET /me/profile', 'svc.me.profile:read', clubMember, {
  summary: 'The member',
  description: 'Name, e-mail address, birthday and picture of the member who issued the token.',
  returns: 'The member.',
})
  .output(profileOutput)
  .query(async ({ ctx: { core, member } }) => {
    const [found] = await core.db.execute(person, { member })
    // The person was deleted while the membership was still cached.
    if (!found) throw errors.memberUnknown('club')
    return found
  })

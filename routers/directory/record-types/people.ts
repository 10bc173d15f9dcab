import { boolean, choice, countryCode, date, email, id, optional, text, time, timeZone } from '../fields.ts'
import { recordType } from '../record-type.ts'
import * as to from '../references.ts'
import { membershipLeft, membershipsLeft, removed } from '../removal-rules.ts'

const personId = () => id('The person.', { column: 'personId', reference: to.person })

/**
 * SQL condition: the organisation is a team's test club or academy. It counts, as EXISTS becomes a join that reads all of them.
 */
export const isOfTestClub = (organisation: string) =>
  `(SELECT count("testTeamId") > 0 FROM "Organisation" WHERE id = ${organisation})`

export const organisations = recordType({
  name: 'organisations',
  table: 'Organisation',
  key: ['id'],
  fields: {
    id: id('The id.'),
    kind: choice({ club: 'club', academy: 'academy', provider: 'provider' }, 'What it is.'),
    name: text('The name.'),
    timeZone: timeZone('The time zone of its calendar.', { initial: `'UTC'` }),
    country: optional(
      countryCode('Two letters of ISO 3166-1, such as `AT`: for the age from which members allow apps.'),
    ),
  },
  fixed: 'kind',
  hidden: 'row."testTeamId" IS NOT NULL',
  ending: membershipsLeft('organisationId', 'Its memberships end. The organisation stays.'),
})

export const people = recordType({
  name: 'people',
  table: 'Person',
  key: ['id'],
  fields: {
    id: id('The id, `sub` of the tokens.'),
    firstName: text('The first name.'),
    lastName: text('The last name.'),
    email: email('The address, to which sign-in codes are sent; may be empty.'),
    birthday: optional(date('The day of birth.')),
    image: text('URL of a picture.', { initial: `''` }),
  },
  hidden: `(SELECT count(club."testTeamId") > 0
    FROM "Membership" own JOIN "Organisation" club ON club.id = own."organisationId" WHERE own."personId" = row.id)`,
  ending: membershipsLeft('personId', "The person's memberships end. The person stays."),
})

export const memberships = recordType({
  name: 'memberships',
  table: 'Membership',
  key: ['organisation', 'person'],
  fields: {
    organisation: id('The organisation.', { column: 'organisationId', reference: to.organisation }),
    person: personId(),
    joinedAt: time('When it began.', { initial: 'LEAST(:now, stage."leftAt")' }),
    leftAt: {
      ...optional(
        time(
          'When it ends or has ended, not before `joinedAt`. Omitted, or null: the person is a member, and returns if they had left.',
        ),
      ),
      kept: `CASE WHEN old."leftAt" > :now THEN old."leftAt" END`,
    },
    administrator: {
      ...boolean(
        'Whether the member decides for a club which apps its members may allow. Omitted, it ends with the membership.',
        { initial: 'false' },
      ),
      kept: `(old.administrator AND (old."leftAt" IS NULL OR old."leftAt" > :now))`,
    },
  },
  rules: [
    {
      field: 'leftAt',
      refuses: `row."leftAt" < row."joinedAt"`,
      value: 'row."leftAt"',
      reason: 'is before joinedAt, of this record or as stored',
    },
  ],
  hidden: isOfTestClub('row."organisationId"'),
  ending: membershipLeft,
})

export const guardians = recordType({
  name: 'guardians',
  table: 'Guardian',
  key: ['child', 'guardian'],
  fields: {
    child: id('The child.', { column: 'childId', reference: to.person }),
    guardian: id('The one who decides about its apps.', { column: 'guardianId', reference: to.person }),
    until: optional(date('The last day (UTC).')),
  },
  rules: [
    {
      field: 'guardian',
      refuses: 'row."guardianId" = row."childId"',
      value: 'row."guardianId"',
      reason: 'is the child',
    },
  ],
  ending: removed('Guardian', ['childId', 'guardianId'], 'Removed. Approvals and consents stay.'),
})

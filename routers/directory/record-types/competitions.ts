import { z } from 'zod'
import { id, number, optional, text, time } from '../fields.ts'
import { ids } from '../lists.ts'
import { recordType } from '../record-type.ts'
import * as to from '../references.ts'
import { removed } from '../removal-rules.ts'
import { isOfTestClub } from './people.ts'

const INT4_MAX = 2_147_483_647
const personId = () => id('The person.', { column: 'personId', reference: to.person })

export const disciplines = recordType({
  name: 'disciplines',
  table: 'Discipline',
  key: ['id'],
  fields: { id: id('The id.'), name: text('The name.') },
  hidden: 'row."testTeamId" IS NOT NULL',
  ending: removed('Discipline', ['id'], 'Removed, with its results.'),
})

export const competitions = recordType({
  name: 'competitions',
  table: 'Competition',
  key: ['id'],
  fields: {
    id: id('The id.'),
    host: id('The organisation that hosts it.', { column: 'hostId', reference: to.organisation }),
    name: text('The name.'),
    clubs: ids('The clubs that take part.', to.club, {
      table: 'Participation',
      parent: 'competitionId',
      key: 'clubId',
      shared: [],
    }),
  },
  hidden: isOfTestClub('row."hostId"'),
  ending: removed('Competition', ['id'], 'Removed, with its results.'),
})

export const results = recordType({
  name: 'results',
  table: 'CompetitionResult',
  key: ['id'],
  fields: {
    id: id('The id.'),
    competition: id('The competition.', { column: 'competitionId', reference: to.competition }),
    discipline: id('The discipline.', { column: 'disciplineId', reference: to.discipline }),
    person: personId(),
    place: optional(
      number(
        'a whole number from 1',
        z.int().min(1).max(INT4_MAX),
        'A result without a place is stored, and not shown.',
      ),
    ),
    score: number('a number', z.number(), 'Points, seconds or metres.'),
    timestamp: time('When it was achieved.'),
  },
  hidden: `(SELECT ${isOfTestClub('own."hostId"')} FROM "Competition" own WHERE own.id = row."competitionId")`,
  ending: removed('CompetitionResult', ['id'], 'Removed.'),
})

import type { FieldType } from './fields.ts'
import type { Kind } from './kind.ts'
import * as academies from './kinds/academies.ts'
import * as clubs from './kinds/clubs.ts'
import * as competitions from './kinds/competitions.ts'
import * as people from './kinds/people.ts'

/** In dependency order. */
const rows = [
  people.organisations,
  people.people,
  people.memberships,
  clubs.groups,
  clubs.groupMembers,
  clubs.calendars,
  clubs.events,
  clubs.trainingPlans,
  competitions.disciplines,
  competitions.competitions,
  competitions.results,
  clubs.memberCards,
  academies.lessons,
  academies.quizzes,
] as const

type Rows = (typeof rows)[number]
export type KindName = Rows['name']
export type Kinds = { [R in Rows as R['name']]: R }

export const kinds = Object.fromEntries(rows.map((row) => [row.name, row])) as unknown as Kinds

/** In dependency order. Files, `--kind` and routers have these names. */
export const kindNames = rows.map(({ name }) => name) as readonly KindName[]

/** The kind without its field types, for the merge. */
export const kindOf = (name: KindName) => kinds[name] as unknown as Kind

export interface FieldDescription {
  name: string
  type: FieldType
  key: boolean
  needed: boolean
  nullable: boolean
}

export function fieldsOf(name: KindName): readonly FieldDescription[] {
  const { fields, key } = kindOf(name)
  const described = Object.entries(fields).map(([name, { type, nullable = false, initial }]) => {
    return { name, type, key: (key as string[]).includes(name), needed: initial === undefined, nullable }
  })
  return [...described, { name: 'version', type: 'number', key: false, needed: false, nullable: false }]
}

import type { FieldType } from './fields.ts'
import type { Kind } from './kind.ts'
import * as academies from './kinds/academies.ts'
import * as clubs from './kinds/clubs.ts'
import * as competitions from './kinds/competitions.ts'
import * as people from './kinds/people.ts'

/** In the order in which they depend on each other. */
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

/** The kinds in the order in which they depend on each other: files, `--kind` and routers have these names. */
export const kindNames = rows.map(({ name }) => name) as readonly KindName[]

/** The kind as the merge sees it, whatever its fields. */
export const kindOf = (name: KindName) => kinds[name] as unknown as Kind

export interface FieldDescription {
  name: string
  type: FieldType
  /** Part of the key: needed in every record. */
  key: boolean
  /** Needed in a new record. */
  needed: boolean
  /** `null` is a value. */
  nullable: boolean
}

/** The fields of a kind's record, `version` last. */
export function fieldsOf(name: KindName): readonly FieldDescription[] {
  const { fields, key } = kindOf(name)
  const described = Object.entries(fields).map(([name, { type, nullable = false, initial }]) => {
    return { name, type, key: (key as string[]).includes(name), needed: initial === undefined, nullable }
  })
  return [...described, { name: 'version', type: 'number', key: false, needed: false, nullable: false }]
}

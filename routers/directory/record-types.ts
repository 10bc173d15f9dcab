import type { FieldType } from './fields.ts'
import type { RecordType } from './record-type.ts'
import * as academies from './record-types/academies.ts'
import * as clubs from './record-types/clubs.ts'
import * as competitions from './record-types/competitions.ts'
import * as people from './record-types/people.ts'

/** In dependency order. */
const rows = [
  people.organisations,
  people.people,
  people.memberships,
  people.guardians,
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
export type RecordTypeName = Rows['name']
export type RecordTypes = { [R in Rows as R['name']]: R }

export const recordTypes = Object.fromEntries(rows.map((row) => [row.name, row])) as unknown as RecordTypes

/** In dependency order. Files, `--kind` and routers have these names. */
export const recordTypeNames = rows.map(({ name }) => name) as readonly RecordTypeName[]

/** The record type without its field types, for the merge. */
export const findRecordType = (name: RecordTypeName) => recordTypes[name] as unknown as RecordType

export interface FieldDescription {
  name: string
  type: FieldType
  key: boolean
  needed: boolean
  nullable: boolean
}

export function listFields(name: RecordTypeName): readonly FieldDescription[] {
  const { fields, key } = findRecordType(name)
  const described = Object.entries(fields).map(([name, { type, nullable = false, initial }]) => {
    return { name, type, key: (key as string[]).includes(name), needed: initial === undefined, nullable }
  })
  return [...described, { name: 'version', type: 'number', key: false, needed: false, nullable: false }]
}

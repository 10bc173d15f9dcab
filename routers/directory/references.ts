export interface Reference {
  table: 'Organisation' | 'Person' | 'Group' | 'Calendar' | 'Competition' | 'Discipline' | 'Lesson'
  /** Requires an organisation of this kind. */
  kind?: 'club' | 'academy'
  /** A column in which the two must agree. */
  same?: 'clubId' | 'academyId'
}

export const club: Reference = { table: 'Organisation', kind: 'club' }
export const academy: Reference = { table: 'Organisation', kind: 'academy' }
export const organisation: Reference = { table: 'Organisation' }
export const person: Reference = { table: 'Person' }
export const group: Reference = { table: 'Group' }
export const competition: Reference = { table: 'Competition' }
export const discipline: Reference = { table: 'Discipline' }
export const sameClub = (table: 'Group' | 'Calendar'): Reference => ({ table, same: 'clubId' })
export const sameAcademy = (table: 'Lesson'): Reference => ({ table, same: 'academyId' })

/** The name of the reference in a sentence: "the id of …". */
export const describeReference = ({ table, kind }: Reference) => {
  const noun = kind ?? table.toLowerCase()
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}

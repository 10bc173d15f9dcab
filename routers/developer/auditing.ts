import type { Database, Transaction } from '../../prisma/client.ts'
import { Prisma } from '../../prisma/generated/client.ts'

/** What a change was, for the audit log of its team. Never a secret: people of the team read it. */
export interface Change {
  team: string
  /** As `client.update`. */
  action: string
  /** The id of what was changed. */
  target: string
  before?: object | null
  after?: object | null
}

/** Who changes something, and when; `person` is null for the operator. */
export interface Author {
  person: string | null
  at: Date
}

type Note = (change: Change) => Promise<void>

/** Runs a change and writes its audit entries in one transaction: both are stored, or neither. */
export const auditing = <Result>(
  db: Database,
  author: Author,
  work: (tx: Transaction, note: Note) => Promise<Result>,
): Promise<Result> => db.$transaction((tx) => work(tx, (change) => write(tx, author, change)))

const write = async (tx: Transaction, { person, at }: Author, { team, before, after, ...rest }: Change) => {
  const data = { ...rest, teamId: team, personId: person, at, before: json(before), after: json(after) }
  await tx.auditEntry.create({ data, select: { id: true } })
}

const json = (value: object | null | undefined) => (value ? (value as Prisma.InputJsonObject) : Prisma.DbNull)

/** The author of a change by a procedure. */
export const authorOf = ({ core, person }: { core: { now: () => number }; person: string }): Author => ({
  person,
  at: new Date(core.now()),
})

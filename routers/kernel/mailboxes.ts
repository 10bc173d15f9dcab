import type { Database } from '../../prisma/client.ts'
import { statement, text, texts } from '../../prisma/pg/statement.ts'
import { comparableEmail } from './email-address.ts'

/** SQL of the comparable form of a person's address, once `fillMailboxes` has run. */
export const mailboxSql = (person: string) => `coalesce(${person}.mailbox, lower(${person}.email))`

/** SQL condition on "Person"; by two indexes. */
export const hasMailbox = (parameter: string) =>
  `(lower("Person".email) = ${parameter} OR "Person".mailbox = ${parameter})`

/** SQL condition: somebody else than this person has the mailbox too, as in families. */
export const isShared = (mailbox: string, person: string) =>
  `EXISTS (SELECT FROM "Person" WHERE ${hasMailbox(mailbox)} AND "Person".id <> ${person})`

/** SQL of the mailbox of a person, who has another name than "Person"; null where it is shared. */
export const soleMailboxSql = (person: string) =>
  `CASE WHEN NOT ${isShared(mailboxSql(person), `${person}.id`)} THEN ${mailboxSql(person)} END`

const PORTION = 1_000

const statements = {
  pending: statement(
    'mailboxes_pending',
    `SELECT id, email FROM "Person" WHERE mailbox IS NULL AND octet_length(email) > char_length(email) LIMIT ${PORTION}`,
    {},
    { id: text, email: text },
  ),
  fill: statement(
    'mailboxes_fill',
    `UPDATE "Person" SET mailbox = found.mailbox
      FROM unnest($ids::text[], $emails::text[], $mailboxes::text[]) AS found (id, email, mailbox)
      WHERE "Person".id = found.id AND "Person".email = found.email AND "Person".mailbox IS NULL`,
    { ids: texts, emails: texts, mailboxes: texts },
    {},
  ),
}

/**
 * Stores the comparable form of addresses with letters beyond ASCII, which the database cannot compute. Call it before each query
 * of the column. A trigger empties the column when the address changes, so the form follows every writer, SQL by hand too.
 * Without such addresses it is one look at an empty index.
 */
export async function fillMailboxes(db: Database): Promise<void> {
  for (;;) {
    const rows = await db.execute(statements.pending, {})
    if (rows.length === 0) return
    // '' for a text that is not an address.
    const forms = rows.map(({ email }) => comparableEmail(email) ?? '')
    await db.execute(statements.fill, {
      ids: rows.map(({ id }) => id),
      emails: rows.map(({ email }) => email),
      mailboxes: forms,
    })
  }
}

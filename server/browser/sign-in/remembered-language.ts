import type { Database } from '../../../prisma/client.ts'
import { oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import type { Language } from '../language.ts'
import { languages } from '../language.ts'

const remember = statement(
  'person_language',
  `UPDATE "Person" SET "preferredLanguage" = $language::"Language"
    WHERE id = $person AND "preferredLanguage" IS DISTINCT FROM $language::"Language"`,
  { person: text, language: oneOf(...languages) },
  {},
)

/** The language of the page on which a person signs in, or allows an app: their mails are in it. */
export const rememberLanguage = async (db: Database, person: string, language: Language): Promise<void> => {
  await db.execute(remember, { person, language })
}

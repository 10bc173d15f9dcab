import { z } from 'zod'
import type { Database } from '../../../prisma/client.ts'
import { Language } from '../../../prisma/generated/enums.ts'
import { jsonArray, listSql, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { internal } from '../../kernel/endpoint.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { router } from '../../kernel/trpc.ts'
import type { PortalLanguage } from './languages.ts'
import { portalLanguages, toPortalLanguage } from './languages.ts'
import type { PortalMail } from './member-mails.ts'
import { portalMails } from './member-mails.ts'

const settings = z.object({
  language: z.enum(portalLanguages),
  off: z.array(z.enum(portalMails)).max(portalMails.length).meta({ description: 'The kinds that are not sent' }),
})

const found = statement(
  'mail_settings',
  `SELECT language, ${listSql('"off"')} AS "off" FROM "MailSettings" WHERE "personId" = $person`,
  { person: text },
  { language: oneOf(...Object.values(Language)), off: jsonArray<PortalMail>() },
)

const get = internal('dev:read', teamPeople, { summary: 'The language and the kinds of mails that the person gets' })
  .output(settings)
  .query(async ({ ctx: { core, person } }) => {
    const [settings] = await core.db.execute(found, { person })
    return { language: toPortalLanguage(settings?.language), off: settings?.off ?? [] }
  })

const set = internal('dev:write', teamPeople, { summary: 'Changes the language and the kinds of mails' })
  .input(settings)
  .output(settings)
  .mutation(async ({ ctx: { core, person }, input: { language, off } }) => {
    const data = { language, off: portalMails.filter((type) => off.includes(type)) }
    await core.db.mailSettings.upsert({
      where: { personId: person },
      create: { personId: person, ...data },
      update: data,
    })
    return data
  })

/** The language of the pages at a person's first sign-in; later only they change it. */
export const startMailsIn = async (db: Database, person: string, language: PortalLanguage): Promise<void> => {
  await db.mailSettings.createMany({ data: { personId: person, language }, skipDuplicates: true })
}

export const mails = router({ get, set })

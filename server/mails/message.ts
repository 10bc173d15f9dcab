import type { DueMail } from '../../routers/developer/mails/due.ts'
import { toPortalLanguage } from '../../routers/developer/mails/languages.ts'
import { isPortalMail } from '../../routers/developer/mails/member-mails.ts'
import type { PortalLanguage } from '../browser/language.ts'
import type { AllWords } from '../browser/words/words.ts'
import type { Footer } from './bodies.ts'
import { mailBodies } from './bodies.ts'
import { renderAccess, renderClubRequest } from './member-message.ts'
import { de } from './words-de.ts'
import type { MailWords } from './words-en.ts'
import { en } from './words-en.ts'

export const mailWords: Record<PortalLanguage, MailWords> = { en, de }

interface Place {
  issuer: string
  brand: string | undefined
  /** The texts of members' mails. */
  words: AllWords
}

/** The subject, text and HTML of a mail. Throws for an invitation, a request to a club, or a consent that has ended. */
export function renderMessage(mail: DueMail, { brand, words, issuer }: Place) {
  const { kind: mailType, language, team, about, invitation } = mail
  if (mail.request) return renderClubRequest(mail, mail.request, words[language], issuer)
  if (mail.access) return renderAccess(mail, mail.access, words[language], issuer)
  if (mailType === 'approvalRequested' || mailType === 'guardianAsked' || !isPortalMail(mailType))
    throw new Error('what the mail reports has ended')
  const portal = `${issuer}/developers`
  const portalLanguage = toPortalLanguage(language)
  const w = mailWords[portalLanguage]
  const { name, expiresAt = 0 } = about
  const absent = { isTeam: false, isNew: false, isExpired: false, reason: '', count: 1, addresses: [] }
  const named = { ...absent, ...about, team: team?.name ?? name, brand, expiresAt: expiresAt * 1000 }
  const sentences = mailType === 'invitation' ? w.invitation(named, invitation!) : w[mailType](named)
  const footer: Footer =
    mailType === 'invitation'
      ? { text: w.unexpected }
      : {
          text: team ? w.because(team.name) : w.becauseAsked,
          link: { text: w.choose, address: `${portal}/mails` },
        }
  const address = [portal, ...pagePath(mail)].join('/')
  return mailBodies(portalLanguage, sentences, address, footer)
}

function pagePath({ kind: mailType, team, about: { app, client, isTeam } }: DueMail): string[] {
  if (mailType === 'invitation' || !team) return []
  if (isTeam) return ['teams', team.id]
  const page = client === undefined ? ['apps', app!] : ['clients', client]
  return ['teams', team.id, ...page, ...(mailType.startsWith('webhook') ? ['deliveries'] : [])].map(encodeURIComponent)
}

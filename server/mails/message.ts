import { listAskedScopes } from '../../routers/approvals/asked-scopes.ts'
import type { DueMail } from '../../routers/developer/mails/due.ts'
import { scopeWords } from '../../routers/kernel/identity-scopes.ts'
import type { Language } from '../browser/language.ts'
import { html } from '../browser/pages/html.ts'
import { de } from './words-de.ts'
import type { MailWords, Sentences } from './words-en.ts'
import { en } from './words-en.ts'

export const mailWords: Record<Language, MailWords> = { en, de }

interface Place {
  /** The portal's address. */
  portal: string
  /** That of the page on which administrators of clubs decide. */
  clubs: string
  brand: string | undefined
}

/** The subject, text and HTML of a mail. Throws for an invitation, or a request to a club, that has ended. */
export function renderMessage(mail: DueMail, { portal, clubs, brand }: Place) {
  const { kind: mailType, language, team, about, invitation } = mail
  const words = mailWords[language]
  const { name, isTeam = false, isNew = false, reason = '', count = 1, expiresAt = 0, isExpired = false } = about
  const secret = { expiresAt: new Date(expiresAt * 1000), isExpired }
  const named = { name, isTeam, team: team?.name ?? name, brand, isNew, reason, count, ...secret }
  if (mailType === 'approvalRequested') {
    const { club, clubName, by, clients } = mail.request!
    const scopes = listAskedScopes(clients).map(({ scope, purposes }) =>
      [scopeWords(scope)[language], ...purposes].join('\n  '),
    )
    const sentences = words.approvalRequested({ ...named, club: clubName, by, scopes })
    const link = { text: words.choose, address: `${portal}/mails` }
    const address = `${clubs}?${new URLSearchParams({ club })}`
    const footer = { text: words.becauseAdministrator(clubName), link }
    return { subject: sentences.subject, ...bodies(language, sentences, address, footer) }
  }
  const sentences = mailType === 'invitation' ? words.invitation(named, invitation!) : words[mailType](named)
  const footer: Footer =
    mailType === 'invitation'
      ? { text: words.unexpected }
      : {
          text: team ? words.because(team.name) : words.becauseAsked,
          link: { text: words.choose, address: `${portal}/mails` },
        }
  const address = [portal, ...pagePath(mail)].join('/')
  return { subject: sentences.subject, ...bodies(language, sentences, address, footer) }
}

function pagePath({ kind: mailType, team, about: { app, client, isTeam } }: DueMail): string[] {
  if (mailType === 'invitation' || !team) return []
  if (isTeam) return ['teams', team.id]
  const page = client === undefined ? ['apps', app!] : ['clients', client]
  return ['teams', team.id, ...page, ...(mailType.startsWith('webhook') ? ['deliveries'] : [])].map(encodeURIComponent)
}

interface Footer {
  text: string
  link?: { text: string; address: string }
}

function bodies(language: Language, { subject, paragraphs, link }: Sentences, address: string, footer: Footer) {
  const page = html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${subject}</title></head>
<body style="font: 16px/1.5 sans-serif; max-width: 36em">
${paragraphs.map((text) => html`<p style="white-space: pre-line"><bdi>${text}</bdi></p>\n`)}<p><a href="${address}">${link}</a></p>
<p style="font-size: 13px; margin-top: 2em">${footer.text}${footer.link && html` <a href="${footer.link.address}">${footer.link.text}</a>`}</p>
</body>
</html>
`
  const end = footer.link ? `${footer.text}\n${footer.link.text}: ${footer.link.address}` : footer.text
  return { text: [...paragraphs, `${link}: ${address}`, `--\n${end}`, ''].join('\n\n'), html: page.text }
}

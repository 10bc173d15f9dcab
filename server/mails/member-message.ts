import { listAskedScopes } from '../../routers/approvals/asked-scopes.ts'
import type { DueMail } from '../../routers/developer/mails/due.ts'
import { fillText } from '../browser/words/fill.ts'
import type { Words } from '../browser/words/words.ts'
import type { Sentences } from './bodies.ts'
import { mailBodies } from './bodies.ts'

interface Place {
  portal: string
  clubs: string
}

type ClubRequest = NonNullable<DueMail['request']>

/** The mail to an administrator of a club whose approval a member asks for. */
export function renderClubRequest(mail: DueMail, request: ClubRequest, w: Words, { portal, clubs }: Place) {
  const { club, clubName, by, clients } = request
  const { aMember, choose, approvalRequested: texts } = w.mails
  const { name: app } = mail.about
  const scopes = listAskedScopes(clients).map(({ scope, purposes }) =>
    [`- ${w.scopes[scope]}`, ...purposes].join('\n  '),
  )
  const sentences: Sentences = {
    subject: fillText(texts.subject, { club: clubName, app }),
    paragraphs: [
      fillText(texts.lead, { member: by ?? aMember, club: clubName, app, team: mail.team?.name ?? app }),
      [texts.scopes, ...scopes].join('\n'),
      texts.rest,
    ],
    link: texts.link,
  }
  const footer = {
    text: fillText(texts.because, { club: clubName }),
    link: { text: choose, address: `${portal}/mails` },
  }
  return mailBodies(w.language, sentences, `${clubs}?${new URLSearchParams({ club })}`, footer)
}

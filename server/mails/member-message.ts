import { listAskedScopes, withPurposes } from '../../routers/approvals/asked-scopes.ts'
import type { DueMail } from '../../routers/developer/mails/due.ts'
import { isConsentScope } from '../../routers/kernel/identity-scopes.ts'
import { fillText } from '../browser/words/fill.ts'
import { dayText } from '../browser/words/format-day.ts'
import type { Words } from '../browser/words/words.ts'
import type { Sentences } from './bodies.ts'
import { mailBodies } from './bodies.ts'

type ClubRequest = NonNullable<DueMail['request']>

/** The mail to an administrator of a club whose approval a member asks for, or to who decides for a child. */
export function renderClubRequest(mail: DueMail, request: ClubRequest, w: Words, issuer: string) {
  const { club, clubName, by, clients, child } = request
  const { aMember, choose, approvalRequested, guardianAsked } = w.mails
  const { name: app } = mail.about
  const who = by ?? aMember
  const values = { member: who, child: who, club: clubName, app, team: mail.team?.name ?? app }
  const asked = child ? withPurposes(child.scopes, clients) : listAskedScopes(clients)
  const scopes = asked.map(({ scope, purposes }) => [`- ${w.scopes[scope]}`, ...purposes].join('\n  '))
  const texts = child ? guardianAsked : approvalRequested
  const sentences: Sentences = {
    subject: fillText(texts.subject, values),
    paragraphs: [fillText(texts.lead, values), [texts.scopes, ...scopes].join('\n'), fillText(texts.rest, values)],
    link: texts.link,
  }
  const page = child?.isGuardian ? 'family' : `club?${new URLSearchParams({ club })}`
  const { because } = child?.isGuardian ? guardianAsked : approvalRequested
  const link = { text: choose, address: `${issuer}/developers/mails` }
  return mailBodies(w.language, sentences, `${issuer}/${page}`, { text: fillText(because, values), link })
}

type Access = NonNullable<DueMail['access']>

/** The mail to a member about an app, or a device, that has got access, or an app that has lost it. */
export function renderAccess({ kind, about }: DueMail, access: Access, w: Words, issuer: string) {
  const texts = w.mails.access
  const { team, organisation, scopes, replayedAt } = access
  const app = about.name
  const connected = `${issuer}/connected`
  const footer = { text: texts.because }
  if (kind === 'accessReplayed') {
    const lead = fillText(w.replayed, { day: dayText(new Date(replayedAt!), w), app, organisation })
    const subject = fillText(texts.replayed, { app })
    return mailBodies(w.language, { subject, paragraphs: [lead, w.withdrawKept], link: w.connected }, connected, footer)
  }
  const { subject, lead } = texts[kind === 'deviceAllowed' ? 'device' : about.isMore ? 'more' : 'granted']
  const listed = scopes.filter(isConsentScope).map((scope) => `- ${w.scopes[scope]}`)
  const paragraphs = [fillText(lead, { app, team, organisation }), [texts.scopes, ...listed].join('\n'), texts.rest]
  return mailBodies(
    w.language,
    { subject: fillText(subject, { app }), paragraphs, link: texts.link },
    connected,
    footer,
  )
}

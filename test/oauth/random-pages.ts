import fc from 'fast-check'
import { messagePage } from '../../server/browser/pages/message.ts'
import { codePage, personPage, signInPage } from '../../server/browser/pages/sign-in.ts'
import { words } from '../../server/browser/words/words.ts'
import { calendarPage } from '../../server/oauth/pages/views/calendar.ts'
import { checkedPage, ownCardsPage } from '../../server/oauth/pages/views/card.ts'
import { connectedPage, removePage } from '../../server/oauth/pages/views/connected.ts'
import { consentPage } from '../../server/oauth/pages/views/consent.ts'
import { devicePage } from '../../server/oauth/pages/views/device.ts'
import { endSessionPage } from '../../server/oauth/pages/views/end-session.ts'
import { codePoint } from '../support/code-point.ts'

const attacks = [
  '<script>x()</script>',
  '</title></p></main>',
  '"><img src=x onerror=x()>',
  "' onfocus='x()",
  '--><!--',
  ']]><![CDATA[',
  '&lt;script&gt;&#60;&#x3c;',
  '`{{x}}`',
  '\u202e\u2066\u200b\ufeff',
  '<',
  '"',
  '&',
]

/** Any text as a name, often with HTML in it. Without NUL and CR, which HTML parsers drop. */
export const hostileText = fc
  .array(fc.oneof(fc.constantFrom(...attacks), fc.string({ unit: codePoint, maxLength: 8 })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join('').replace(/[\0\r]/g, ''))

/** The number of texts that `listPages` needs. */
export const textCount = 9

/** Every page, with these texts in all fields from users. */
export function listPages([action, app, team, one, other, id, otherId, host, detail]: string[]): string[] {
  const brand = { name: team! }
  const view = { w: words.de, brand, action: action!, app: { name: app!, team: team!, homepage: host! } } as const
  const pair = [
    { id: id!, name: one! },
    { id: otherId!, name: other! },
  ]
  const consent = {
    ...view,
    member: one!,
    chosen: null,
    scopes: ['svc.apps.storage:write'],
    asker: { returnsTo: host! },
  } as const
  const card = { name: one!, club: other!, validUntil: '2026-12-31', valid: false }
  const times = { since: new Date(0), lastUse: new Date(0), ends: new Date(0) }
  const connected = { app: view.app, organisation: other!, scopes: [...consent.scopes], ...times }
  return [
    signInPage({ ...view, email: true, upstream: one!, members: pair }),
    codePage({ ...view, form: host!, email: one! }),
    personPage({ ...view, form: host!, persons: pair }),
    consentPage({ ...consent, organisations: pair }),
    consentPage({ ...consent, organisations: [pair[0]!] }),
    consentPage({ ...consent, organisations: pair, asker: { device: detail! } }),
    devicePage({ ...view, code: detail! }),
    checkedPage({ ...view, card }),
    ownCardsPage({ ...view, member: one!, cards: [{ ...card, url: undefined }] }),
    connectedPage({
      ...view,
      others: ['card', 'calendar', 'club', 'family'],
      member: one!,
      withdrawn: other!,
      apps: [{ ...connected, consent: id! }],
      replays: [{ app: view.app, organisation: other!, at: times.since }],
      dataRequest: null,
    }),
    calendarPage({
      ...view,
      member: one!,
      clubs: [{ id: id!, name: other!, feeds: [{ id: otherId!, app: app!, createdAt: times.since }] }],
      created: { club: id!, url: `https:${host!}` },
    }),
    endSessionPage({ ...view, member: one!, query: other! }),
    removePage({ ...view, member: one!, connected: { ...connected, consent: id! } }),
    consentPage({ ...consent, organisations: [] }),
    messagePage({ ...view, message: 'requestWrong', detail: detail!, requestId: host! }),
  ]
}

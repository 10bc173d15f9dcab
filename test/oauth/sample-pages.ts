import { identityScopes } from '../../routers/kernel/identity-scopes.ts'
import type { Scope } from '../../routers/kernel/scopes.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import type { Language } from '../../server/browser/language.ts'
import { messagePage } from '../../server/browser/pages/message.ts'
import { codePage, personPage, signInPage } from '../../server/browser/pages/sign-in.ts'
import { words } from '../../server/browser/words/words.ts'
import { calendarPage } from '../../server/oauth/pages/views/calendar.ts'
import { checkedPage, ownCardsPage } from '../../server/oauth/pages/views/card.ts'
import { clubPage, noClubPage, withdrawPage } from '../../server/oauth/pages/views/club.ts'
import { connectedPage, removePage } from '../../server/oauth/pages/views/connected.ts'
import { consentPage, developmentPage } from '../../server/oauth/pages/views/consent.ts'
import { devicePage } from '../../server/oauth/pages/views/device.ts'
import { endSessionPage } from '../../server/oauth/pages/views/end-session.ts'
import { familyPage } from '../../server/oauth/pages/views/family.ts'

export const action = '/v1/oauth/interaction/one'

const app = {
  name: 'Trainer',
  team: 'Builders GmbH',
  homepage: 'https://trainer.example.org/',
  icon: 'trainer/1',
  description: 'Training plans, attendance and results of a team in one place.',
  purposes: { 'svc.me.profile:read': 'To greet members by name.', 'svc.apps.storage:write': 'To keep scores.' },
}
const clubs = [
  { id: 'riverside', name: 'SV Riverside 1921' },
  { id: 'northgate', name: 'Ruderverein Northgate' },
]
const members = [
  { id: 'anna', name: 'Anna Berger' },
  { id: 'ben', name: 'Ben Okafor' },
]
const asked = [
  'svc.me.profile:read',
  'svc.me.groups:read',
  'svc.me.events:read',
  'svc.apps.storage:read',
  'svc.apps.storage:write',
] satisfies Scope[]
const allScopes = [...identityScopes, ...memberScopes]
const since = new Date('2026-03-04T18:30:00Z')
const times = { since, lastUse: new Date('2026-03-09T07:12:00Z'), ends: new Date('2027-03-04T18:30:00Z') }
// Difficult names: long words, both text directions, invisible characters, combining marks, markup.
const long = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverleihungsausschuss'
const strange = `\u202eاتحاد‏ הפועל \u2069\u200b👩‍👩‍👧‍👦 Z${'\u0351\u0327'.repeat(12)} "><script>alert('&amp;')</script>`
const odd = {
  name: strange,
  team: long,
  homepage: `https://${'very-long-label.'.repeat(8)}example.org/`,
  description: `${long} ${strange}`,
  purposes: { 'svc.me.profile:read': strange, 'svc.me.groups:read': long.repeat(3) },
}
const brand = {
  name: 'Landesverband der Rudervereine',
  logo: { type: 'image/svg+xml', bytes: Buffer.from(''), version: 'one' },
} as const

const calendar = '/v1/oauth/calendar'
const feed = { id: 'f1', app: null, createdAt: since }

const child = { id: 'ben', name: 'Ben Okafor', clubName: 'SV Riverside 1921', version: 1, isUsed: true }
const oddChild = { ...child, id: strange, name: strange, clubName: long }
const entry = {
  club: 'riverside',
  reason: null,
  requestedAt: null,
  decidedAt: null,
  scopes: [
    { scope: 'svc.me.profile:read' as const, purposes: ['To greet members by name.'] },
    { scope: 'svc.apps.storage:write' as const, purposes: ['To keep scores.'] },
  ],
}

const card = { name: 'Anna Berger', club: 'SV Riverside 1921', validUntil: '2026-12-31', valid: true }
const url = `https://auth.example.org/v1/card/${'x'.repeat(366)}`

const strangeScopes = [{ scope: 'svc.me.profile:read' as const, purposes: [strange, long] }]

const request = { member: 'Anna Berger', chosen: null, scopes: asked }

/** Each page in each state that looks different, by the path that browser tests open. */
export function samplePages(language: Language): Record<string, string> {
  const w = words[language]
  return {
    '/sign-in': signInPage({ w, action, app, email: true, upstream: 'Vereinswerk', members: null }),
    '/sign-in-problem': signInPage({
      w,
      action,
      app,
      email: true,
      upstream: null,
      members,
      problem: 'emailInvalid',
    }),
    '/sign-in-upstream': signInPage({
      w,
      action,
      app: odd,
      email: false,
      upstream: long,
      members: null,
      problem: 'upstreamFailed',
    }),
    '/sign-in-none': signInPage({ w, action, app: null, email: false, upstream: null, members: null }),
    '/code': codePage({ w, brand, action, form: action, email: 'anna.berger@example.org' }),
    '/code-problem': codePage({ w, action, form: action, email: `${long}@example.org`, problem: 'codeWrong' }),
    '/person': personPage({ w, action, form: action, persons: [...members, { id: 'long', name: long }] }),
    '/consent': consentPage({
      w,
      action,
      app,
      ...request,
      organisations: clubs,
      asker: { returnsTo: 'trainer.example.org' },
    }),
    '/consent-vouched': consentPage({
      w,
      action,
      app: { name: 'Planner', team: `${'very-long-label.'.repeat(8)}example.org`, vouched: true },
      ...request,
      organisations: clubs,
      asker: { returnsTo: 'planner.example.org' },
    }),
    '/consent-sandbox': consentPage({
      w,
      action,
      app,
      member: 'Anna Berger',
      sandbox: true,
      organisations: [
        { id: 'club alex', name: 'Alex Test, Test club of Builders GmbH' },
        { id: 'club kim', name: 'Kim Test, Test club of Builders GmbH' },
      ],
      chosen: null,
      scopes: asked,
      asker: { returnsTo: 'localhost:4321' },
    }),
    '/consent-problem': consentPage({
      w,
      action,
      app: odd,
      member: strange,
      organisations: [{ id: 'long', name: long }],
      chosen: null,
      scopes: allScopes,
      asker: { returnsTo: `${'very-long-label.'.repeat(8)}example.org` },
      problem: 'scopesMissing',
    }),
    '/consent-nowhere': consentPage({
      w,
      action,
      app,
      member: 'Anna Berger',
      organisations: [],
      chosen: null,
      scopes: ['lms.me.quizzes:write'],
      asker: { returnsTo: '127.0.0.1' },
    }),
    '/consent-some-clubs': consentPage({
      w,
      action,
      app,
      member: 'Anna Berger',
      organisations: [clubs[0]!],
      closed: [
        { ...clubs[1]!, by: 'club', state: 'unasked' },
        { id: 'long', name: long, by: 'club', state: 'refused' },
      ],
      chosen: null,
      scopes: asked,
      asker: { returnsTo: 'trainer.example.org' },
    }),
    '/consent-no-club': consentPage({
      w,
      action,
      app,
      member: 'Anna Berger',
      organisations: [],
      closed: [
        { ...clubs[0]!, by: 'club', state: 'unasked' },
        { ...clubs[1]!, by: 'club', state: 'requested' },
      ],
      chosen: null,
      scopes: asked,
      asker: { returnsTo: 'trainer.example.org' },
    }),
    '/consent-child': consentPage({
      w,
      action,
      app,
      member: 'Ben Okafor',
      organisations: [],
      closed: [
        { ...clubs[0]!, by: 'guardian', state: 'unasked' },
        { ...clubs[1]!, by: 'guardian', state: 'requested' },
        { id: 'long', name: long, by: 'guardian', state: 'refused', reason: strange },
      ],
      chosen: null,
      scopes: asked,
      asker: { returnsTo: 'trainer.example.org' },
    }),
    '/consent-development': developmentPage({ w, action, app, asker: { returnsTo: 'trainer.example.org' } }),
    '/consent-device': consentPage({
      w,
      action,
      app,
      ...request,
      organisations: clubs,
      asker: { device: 'BCDF-GHJK' },
    }),
    '/consent-device-nowhere': consentPage({
      w,
      action,
      app: odd,
      member: strange,
      organisations: [],
      chosen: null,
      scopes: asked,
      asker: { device: 'BCDF-GHJK' },
    }),
    '/device': devicePage({ w, brand, action: '/v1/oauth/device', code: '' }),
    '/device-problem': devicePage({
      w,
      action: '/v1/oauth/device',
      code: 'BCDF-"><b>',
      problem: 'deviceCodeWrong',
    }),
    '/device-allowed': messagePage({ w, message: 'deviceAllowed', requestId: 'x' }),
    '/device-refused': messagePage({ w, brand, message: 'deviceRefused' }),
    '/connected': connectedPage({
      w,
      others: ['card', 'calendar', 'club', 'family'],
      action: '/v1/oauth/connected',
      member: 'Anna Berger',
      apps: [
        { consent: 'c1', app, organisation: 'SV Riverside 1921', scopes: asked, ...times },
        {
          consent: 'c2',
          app: { name: 'Quizduell', team: 'Feierabend Apps' },
          organisation: 'Trainerakademie',
          scopes: ['lms.me.quizzes:write'],
          ...times,
          lastUse: 'unused',
        },
      ],
      replays: [{ app: { name: 'Kuchenliste' }, organisation: 'SV Riverside 1921', at: times.since }],
      dataRequest: null,
      withdrawn: 'Kuchenliste',
    }),
    '/remove': removePage({
      w,
      action: '/v1/oauth/connected',
      member: 'Anna Berger',
      connected: { consent: 'c1', app, organisation: 'SV Riverside 1921' },
    }),
    '/remove-odd': removePage({
      w,
      brand: { ...brand, name: long },
      action: '/v1/oauth/connected',
      member: strange,
      connected: { consent: 'c3', app: odd, organisation: long },
    }),
    '/connected-odd': connectedPage({
      w,
      others: ['calendar'],
      action: '/v1/oauth/connected',
      member: strange,
      apps: [{ consent: 'c3', app: odd, organisation: long, scopes: allScopes, ...times, lastUse: 'longAgo' }],
      replays: [{ app: odd, organisation: long, at: times.since }],
      dataRequest: { requestedAt: since, deadline: times.ends },
    }),
    '/connected-none': connectedPage({
      w,
      others: ['calendar'],
      action: '/v1/oauth/connected',
      member: 'Ben Okafor',
      apps: [],
      replays: [],
      dataRequest: null,
    }),
    '/calendar': calendarPage({
      w,
      action: calendar,
      member: 'Anna Berger',
      clubs: [
        { ...clubs[0]!, feeds: [feed, { ...feed, id: 'f2', app: 'Trainingstagebuch' }] },
        { ...clubs[1]!, feeds: [] },
      ],
      created: { club: 'riverside', url: 'https://auth.example.org/v1/calendar/jZ3xMfE0mS0v1yqk2nP4rQ.ics' },
    }),
    '/calendar-odd': calendarPage({
      w,
      brand: { ...brand, name: long },
      action: calendar,
      member: strange,
      clubs: [{ id: 'odd', name: long, feeds: [{ ...feed, app: strange }] }],
      created: {
        club: 'odd',
        url: `https://${'very-long-label.'.repeat(8)}example.org/calendar/jZ3xMfE0mS0v1yqk2nP4rQ.ics`,
      },
      removed: true,
    }),
    '/calendar-none': calendarPage({
      w,
      action: calendar,
      member: 'Ben Okafor',
      clubs: [],
    }),
    '/club': clubPage({
      w,
      action: '/v1/oauth/club',
      club: clubs[0]!,
      others: [clubs[1]!],
      decides: true,
      entries: [
        { ...entry, id: 'trainer', app, state: 'requested', requestedAt: since },
        { ...entry, id: 'cake', app: { name: 'Kuchenliste', team: 'Feierabend Apps' }, state: 'undecided', scopes: [] },
        {
          ...entry,
          id: 'quiz',
          app: { name: 'Quizduell', team: 'Feierabend Apps' },
          state: 'approved',
          decidedAt: since,
        },
      ],
      page: 1,
      more: true,
    }),
    '/club-odd': clubPage({
      w,
      action: '/v1/oauth/club',
      club: { id: strange, name: strange },
      others: [{ id: strange, name: long }],
      decides: true,
      entries: [
        { ...entry, id: strange, app: odd, state: 'refused', reason: strange, decidedAt: since },
        { ...entry, id: 'b', app: odd, state: 'requested', requestedAt: since, scopes: strangeScopes },
      ],
      page: 0,
      more: false,
      decided: { state: 'refused', entry: { ...entry, id: 'b', app: odd, state: 'refused' } },
      problem: 'reasonInvalid',
      troubled: { ...entry, id: 'b', app: odd, state: 'requested' },
      typed: strange,
    }),
    '/club-none': clubPage({
      w,
      action: '/v1/oauth/club',
      club: clubs[0]!,
      others: [],
      decides: true,
      entries: [],
      page: 0,
      more: false,
    }),
    '/club-withdraw': withdrawPage({
      w,
      action: '/v1/oauth/club',
      club: clubs[0]!,
      entry: { ...entry, id: 'trainer', app },
      members: 12,
    }),
    '/club-stranger': noClubPage({ w, action: '/v1/oauth/club', member: 'Ben Okafor' }),
    '/club-children': clubPage({
      w,
      action: '/v1/oauth/club',
      club: clubs[0]!,
      others: [],
      decides: false,
      entries: [],
      children: [{ ...entry, id: 'trainer', app, state: 'requested', requestedAt: since, child }],
      page: 0,
      more: false,
    }),
    '/family': familyPage({
      w,
      action: '/v1/oauth/family',
      entries: [
        { ...entry, id: 'trainer', app, state: 'requested', requestedAt: since, child },
        { ...entry, id: 'quiz', app: { name: 'Quizduell', team: 'Feierabend Apps' }, state: 'undecided', child },
        {
          ...entry,
          id: 'cake',
          app: { name: 'Kuchenliste', team: 'Cake' },
          state: 'withdrawn',
          decidedAt: since,
          child,
        },
      ],
      page: 1,
      more: true,
      decided: { state: 'approved', entry: { ...entry, id: 'trainer', app, state: 'approved', child } },
    }),
    '/family-odd': familyPage({
      w,
      action: '/v1/oauth/family',
      entries: [
        { ...entry, id: 'b', app: odd, state: 'requested', requestedAt: since, scopes: strangeScopes, child: oddChild },
      ],
      page: 0,
      more: false,
      problem: 'reasonInvalid',
      troubled: { ...entry, id: 'b', app: odd, state: 'requested', child: oddChild },
    }),
    '/family-none': familyPage({ w, action: '/v1/oauth/family', entries: [], page: 0, more: false }),
    '/family-stranger': noClubPage({ w, action: '/v1/oauth/family', member: 'Ben Okafor', pages: 'family' }),
    '/family-sign-in': signInPage({
      w,
      action: '/v1/oauth/family',
      app: null,
      pages: 'family',
      email: true,
      upstream: null,
      members: null,
    }),
    '/card': checkedPage({ w, brand, card }),
    '/card-odd': checkedPage({ w, card: { name: strange, club: long, validUntil: null, valid: false } }),
    '/card-unknown': checkedPage({ w, card: null }),
    '/cards': ownCardsPage({ w, member: 'Anna Berger', cards: [{ ...card, url }] }),
    '/cards-odd': ownCardsPage({
      w,
      member: strange,
      cards: [
        { ...card, name: strange, club: long, url },
        { ...card, club: strange, valid: false, url: undefined },
      ],
    }),
    '/cards-none': ownCardsPage({ w, member: 'Ben Okafor', cards: [] }),
    '/end-session': endSessionPage({
      w,
      action: '/v1/oauth/end-session',
      member: 'Anna Berger',
      app,
      query: 'client_id=trainer',
    }),
    '/end-session-odd': endSessionPage({
      w,
      action: '/v1/oauth/end-session',
      member: strange,
      app: odd,
      query: strange,
    }),
    '/message': messagePage({
      w,
      message: 'requestWrong',
      detail: 'invalid_request: redirect_uri did not match',
      requestId: '331f7208-232e-4782-b7d0-4caf7c52db6c',
      app,
    }),
    '/message-again': messagePage({ w, message: 'unavailable', requestId: 'x'.repeat(64), again: true }),
    '/message-out': messagePage({ w, brand, message: 'signedOut' }),
  }
}

import type { Html } from '../../pages/html.ts'
import { html } from '../../pages/html.ts'
import type { Kind } from './scope-words.ts'
import type { Message, Problem } from './views.ts'

/** Every text of the pages. A language that lacks one does not compile. */
export interface Words {
  mark: string
  problemTitle: string
  signIn: string
  signInFor: (app: Html, team: Html) => Html
  signInForConnected: string
  upstream: (name: Html) => Html
  or: string
  email: string
  emailHint: string
  sendCode: string
  noLoginMethod: string
  developmentLogin: string
  developmentLoginHint: string
  member: string
  codeTitle: string
  codeSent: (email: Html) => Html
  code: string
  codeHint: string
  otherAddress: string
  personTitle: string
  personHint: string
  consentTitle: string
  consentQuestion: (app: Html) => Html
  by: (team: Html) => Html
  asks: (member: Html) => Html
  organisation: Record<Kind, string>
  which: Record<Kind, string>
  sees: string
  changes: string
  untick: string
  allowing: (app: Html) => Html
  goesBack: (host: Html) => Html
  allow: string
  refuse: string
  connected: string
  connectedFor: (member: Html) => Html
  connectedNone: string
  since: string
  withdraw: string
  withdrawHint: string
  withdrawn: (app: Html) => Html
  signOut: string
  problems: Record<Problem, string>
  messages: Record<Message, { title: string; text: string }>
}

export const en: Words = {
  mark: 'Member apps',
  problemTitle: 'Problem',
  signIn: 'Sign in',
  signInFor: (app, team) => html`Then you continue to ${app}, an app by ${team}.`,
  signInForConnected: 'Then you can see which apps you have allowed.',
  upstream: (name) => html`Sign in with ${name}`,
  or: 'or',
  email: 'E-mail address',
  emailHint: 'The address that your club has on file. We send a code to it; you do not need a password.',
  sendCode: 'Send me a code',
  noLoginMethod: 'Signing in has not been set up here yet.',
  developmentLogin: 'Try it out',
  developmentLoginHint: 'This is a development machine with demo data: choose any member.',
  member: 'Member',
  codeTitle: 'Enter the code',
  codeSent: (
    email,
  ) => html`If ${email} belongs to a member, we have sent a code to it. The code works for 10 minutes, and
    only in this browser.`,
  code: 'Code',
  codeHint: '8 digits from the e-mail',
  otherAddress: 'Use another address or request a new code',
  personTitle: 'Who is signing in?',
  personHint: 'Several members share this address.',
  consentTitle: 'Allow an app',
  consentQuestion: (app) => html`Allow ${app}?`,
  by: (team) => html`An app by ${team}`,
  asks: (member) => html`It is asking for access to data of ${member}, who is signed in here.`,
  organisation: { club: 'Club', academy: 'Academy', provider: 'Provider', organisation: 'Organisation' },
  which: {
    club: 'For which club?',
    academy: 'For which academy?',
    provider: 'For which provider?',
    organisation: 'For which organisation?',
  },
  sees: 'What it may see',
  changes: 'What it may do and change',
  untick: 'Untick anything that it should not get.',
  allowing: (app) => html`If you allow this, ${app} gets everything that is ticked, for later visits as well. You can
    withdraw it at any time under <strong>Connected apps</strong>. If you refuse, it gets nothing.`,
  goesBack: (host) => html`Either way, your browser then returns to ${host}.`,
  allow: 'Allow',
  refuse: 'Refuse',
  connected: 'Connected apps',
  connectedFor: (member) => html`What ${member} has allowed apps to do.`,
  connectedNone: 'No apps are connected. Apps that you allow appear here.',
  since: 'Allowed on',
  withdraw: 'Withdraw',
  withdrawHint: 'A withdrawn app loses its access within seconds. The data it has stored is kept.',
  withdrawn: (app) => html`${app} no longer has access.`,
  signOut: 'Sign out',
  problems: {
    emailInvalid: 'This is not a valid e-mail address. Example: name@example.org.',
    codeWrong: 'This code is wrong. Please compare it with the latest e-mail.',
    codeExpired: 'This code is no longer valid. Please request a new one.',
    tooOften: 'Too many codes were requested in a short time. Please try again later.',
    upstreamFailed: 'Signing in failed. Please try again, or choose another way.',
    memberUnknown: 'No member was found for this sign-in. Your club can tell you which address it has on file.',
    organisationMissing: 'You are not a member of any organisation that this app can be allowed for.',
    scopesMissing: 'Nothing is ticked. Please tick at least one item, or refuse.',
  },
  messages: {
    expired: { title: 'This page has expired', text: 'Nothing was allowed. Please start again from the app.' },
    notFound: { title: 'Page not found', text: 'The address may be mistyped or out of date.' },
    crossSite: {
      title: 'This request came from another site',
      text: 'To be safe, nothing was changed. Please start again from the app.',
    },
    requestWrong: {
      title: 'The app sent an invalid request',
      text: 'Nothing was allowed. The developers of the app can fix this.',
    },
    tooManyRequests: { title: 'Too many requests', text: 'Please try again in a minute.' },
    unavailable: { title: 'Not available at the moment', text: 'Please try again in a minute.' },
    signedOut: { title: 'You are signed out', text: 'Apps that you have allowed keep their access.' },
  },
}

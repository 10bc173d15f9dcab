import type { Html } from './html.ts'
import { html } from './html.ts'
import type { Kind } from './scope-words.ts'
import type { Message, Problem } from './views.ts'

/** Every text of the pages; a language has each of them or does not compile. */
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
  noWay: string
  pick: string
  pickHint: string
  pickLabel: string
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
  signInFor: (app, team) => html`You then go on to ${app}, an app by ${team}.`,
  signInForConnected: 'You then see which apps you have allowed.',
  upstream: (name) => html`Sign in with ${name}`,
  or: 'or',
  email: 'E-mail address',
  emailHint: 'The one that your club knows. We send a code to it; no password is needed.',
  sendCode: 'Send me a code',
  noWay: 'No way to sign in has been set up here yet.',
  pick: 'Try it out',
  pickHint: 'This is a development machine with demo data: be any of its members.',
  pickLabel: 'Member',
  codeTitle: 'Enter the code',
  codeSent: (
    email,
  ) => html`If ${email} belongs to a member, a code is on its way there. It works for 10 minutes, here in
    this browser.`,
  code: 'Code',
  codeHint: '8 digits, from the e-mail',
  otherAddress: 'Use another address, or send a new code',
  personTitle: 'Who is signing in?',
  personHint: 'Several members share this address.',
  consentTitle: 'Allow an app',
  consentQuestion: (app) => html`Allow ${app}?`,
  by: (team) => html`An app by ${team}`,
  asks: (member) => html`It asks for access to data of ${member}, who is signed in here.`,
  organisation: { club: 'Club', academy: 'Academy', provider: 'Provider', organisation: 'Organisation' },
  which: {
    club: 'For which club?',
    academy: 'For which academy?',
    provider: 'For which provider?',
    organisation: 'For which organisation?',
  },
  sees: 'What it may see',
  changes: 'What it may do or change',
  untick: 'Untick what it should not get.',
  allowing: (
    app,
  ) => html`If you allow this, ${app} gets what is ticked, also for later visits; you can withdraw it at any
    time under <strong>Connected apps</strong>. If you refuse, it gets nothing.`,
  goesBack: (host) => html`Either way the browser then goes back to ${host}.`,
  allow: 'Allow',
  refuse: 'Refuse',
  connected: 'Connected apps',
  connectedFor: (member) => html`What ${member} has allowed apps to do.`,
  connectedNone: 'No app is connected. One that you allow is listed here.',
  since: 'Allowed on',
  withdraw: 'Withdraw',
  withdrawHint: 'An app that is withdrawn loses its access within seconds. What it has stored is kept.',
  withdrawn: (app) => html`${app} no longer has access.`,
  signOut: 'Sign out',
  problems: {
    emailInvalid: 'This is not an e-mail address. One looks like name@example.org.',
    codeWrong: 'This code is not right. Please compare it with the latest e-mail.',
    codeExpired: 'This code no longer works. Please ask for a new one.',
    tooOften: 'That was too often in a short time. Please try again in a few minutes.',
    upstreamFailed: 'Signing in there did not work. Please try again, or choose another way.',
    memberUnknown: 'No member belongs to this sign-in. Your club can tell which address it knows.',
    organisationMissing: 'You are not a member anywhere that this app could be allowed for.',
    scopesMissing: 'Nothing was ticked. Please tick at least one item, or refuse.',
  },
  messages: {
    expired: { title: 'This page has expired', text: 'Nothing was allowed. Please start again from the app.' },
    notFound: { title: 'There is nothing here', text: 'The address may be mistyped, or out of date.' },
    crossSite: {
      title: 'This came from another site',
      text: 'To be safe, nothing was done. Please start again from the app.',
    },
    requestWrong: {
      title: 'This app asked in a wrong way',
      text: 'Nothing was allowed. Those who make the app can put it right.',
    },
    unavailable: { title: 'Not available just now', text: 'Please try again in a minute.' },
    signedOut: { title: 'You are signed out', text: 'Apps that you have allowed keep their access.' },
  },
}

import type { Html } from './html.ts'
import { html } from './html.ts'
import type { Message, Problem } from './views.ts'

/** The texts of sign-in and messages. A language that lacks one does not compile. */
export interface Words {
  mark: string
  problemTitle: string
  signIn: string
  signInFor: (app: Html, team: Html) => Html
  signInForConnected: string
  signInForDevelopers: string
  signInForClubs: string
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
  otherWay: string
  by: (team: Html) => Html
  connected: string
  signInAgain: string
  tryAgain: string
  backToApp: (app: Html, host: string | Html) => Html
  quote: string
  problems: Record<Problem, string>
  messages: Record<Message, { title: string; text: string }>
}

export const en: Words = {
  mark: 'Member apps',
  problemTitle: 'Problem',
  signIn: 'Sign in',
  signInFor: (app, team) => html`to continue to ${app}, an app by ${team}`,
  signInForConnected: 'to see which apps have access to your data',
  signInForDevelopers: 'to continue to the developer portal',
  signInForClubs: 'and see the apps of your club',
  upstream: (name) => html`Sign in with ${name}`,
  or: 'or',
  email: 'E-mail address',
  emailHint: 'The one that your club has on file. We will send you a code; you do not need a password.',
  sendCode: 'Send me a code',
  noLoginMethod: 'Sign-in has not been set up here yet.',
  developmentLogin: 'Try it out',
  developmentLoginHint: 'This service runs with demo data. You can sign in as any of its members.',
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
  otherWay: 'Sign in another way',
  by: (team) => html`An app by ${team}`,
  connected: 'Connected apps',
  signInAgain: 'Sign in again',
  tryAgain: 'Try again',
  backToApp: (app, host) => html`Back to ${app} (${host})`,
  quote: 'If you ask for help, please quote this number:',
  problems: {
    emailInvalid: 'This is not a valid e-mail address. Example: name@example.org.',
    codeWrong: 'This code is wrong. Please compare it with the latest e-mail.',
    codeExpired: 'This code is no longer valid. Please request a new one.',
    tooOften: 'Too many codes were requested in a short time. Please try again later.',
    upstreamFailed: 'Sign-in failed. Please try again, or choose another way.',
    memberUnknown: 'No member was found for this sign-in. Your club can tell you which address it has on file.',
    organisationMissing: 'Please choose one of these organisations.',
    scopesMissing: 'Nothing is ticked. Please tick at least one item, or refuse.',
    deviceCodeWrong:
      'This code is wrong, or no longer valid. Please compare it with the device; most devices can show a new one.',
    reasonInvalid: 'Give a reason of at most 500 characters.',
    reasonUnseen: 'Give a reason of at most 500 characters. It must not contain invisible characters.',
    decidedMeanwhile: 'Somebody has decided otherwise in the meantime. Nothing was changed.',
  },
  messages: {
    expired: {
      title: 'This page has expired',
      text: 'Sign-in pages work for 15 minutes, and only in the browser in which they were opened. No access was granted. Please go back to the app and start again.',
    },
    notFound: { title: 'Page not found', text: 'The address may be mistyped or out of date.' },
    crossSite: {
      title: 'This request came from another site',
      text: 'To be safe, nothing was changed. If you were allowing an app, please start again from the app.',
    },
    requestWrong: {
      title: 'The request is not valid',
      text: 'No access was granted. If an app brought you here, its developers can fix this: please send them the details below.',
    },
    tooManyRequests: {
      title: 'Too many requests',
      text: 'Too many came from your sign-in or your network within a short time. Please wait a minute, then try again.',
    },
    unavailable: {
      title: 'Not available at the moment',
      text: 'This is not your fault. Please wait a minute, then try again.',
    },
    inDevelopment: {
      title: 'This app is in development',
      text: 'Only its developers can sign in to it at the moment. No access was granted.',
    },
    notApproved: {
      title: 'This app has not been approved yet',
      text: 'Nobody can sign in to it until then. No access was granted.',
    },
    signedOut: { title: 'You are signed out', text: 'Apps that you have allowed keep their access.' },
    deviceAllowed: {
      title: 'The device is connected',
      text: 'It continues by itself within seconds. You can close this page and go back to it.',
    },
    deviceRefused: { title: 'The device was refused', text: 'It gets no access. You can close this page.' },
  },
}

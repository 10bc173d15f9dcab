import type { Html } from '../../../browser/pages/html.ts'
import { html } from '../../../browser/pages/html.ts'
import type { Kind } from './scope-words.ts'

/** The texts of consent and connected apps. A language that lacks one does not compile. */
export interface Words {
  consentTitle: string
  consentQuestion: (app: Html) => Html
  testClient: string
  testClientHint: string
  testAsks: (member: Html) => Html
  asks: (member: Html) => Html
  notYou: string
  switchAccount: string
  organisation: Record<Kind, string>
  which: Record<Kind, string>
  sees: string
  changes: string
  untick: string
  allowing: (app: Html, connected: Html) => Html
  returning: (host: Html) => Html
  deviceTitle: string
  deviceLead: string
  deviceCode: string
  deviceCodeHint: string
  deviceContinue: string
  deviceAsks: (code: Html) => Html
  deviceWarning: string
  deviceFromOthers: string
  deviceAfter: string
  allow: string
  refuse: string
  nowhereTitle: string
  forMembers: Record<Kind, (app: Html) => Html>
  nowhere: Record<Kind, (member: Html) => Html>
  connectedFor: (member: Html) => Html
  connectedNone: string
  replayed: (app: Html, organisation: Html, day: Html) => Html
  since: string
  lastUse: string
  unused: string
  longAgo: string
  ends: string
  withdraw: string
  withdrawQuestion: (app: Html) => Html
  withdrawHint: (app: Html, member: Html, organisation: Html) => Html
  withdrawKept: string
  keep: string
  withdrawn: (app: Html) => Html
  signOut: string
  endQuestion: string
  endAsked: (app: Html) => Html
  endHint: (member: Html) => Html
  endStay: string
}

export const en: Words = {
  consentTitle: 'Allow an app',
  consentQuestion: (app) => html`Allow ${app}?`,
  testClient: 'Test client, not reviewed.',
  testClientHint: 'Whatever it asks for below, it gets only the data of an invented member.',
  testAsks: (member) => html`It asks for access to the test club. You are signed in as ${member}.`,
  asks: (member) => html`It asks for access to your data. You are signed in as ${member}.`,
  notYou: 'Not you?',
  switchAccount: 'Switch account',
  organisation: { club: 'Club', academy: 'Academy', provider: 'Provider', organisation: 'Organisation' },
  which: {
    club: 'For which club?',
    academy: 'For which academy?',
    provider: 'For which provider?',
    organisation: 'For which organisation?',
  },
  sees: 'What it may see',
  changes: 'What it may do and change',
  untick: 'Untick what it should not get.',
  allowing: (app, connected) => html`If you allow this, ${app} gets everything that is ticked, for a year or until
    you remove its access under ${connected}.`,
  returning: (host) => html`Either way, you then return to ${host}.`,
  deviceTitle: 'Connect a device',
  deviceLead:
    'For a device that is in front of you and shows a code. If somebody sent you the code or a link to this page, close it: they would get access to your data.',
  deviceCode: 'Code on the device',
  deviceCodeHint: '8 letters',
  deviceContinue: 'Continue',
  deviceAsks: (code) => html`The request comes from a device that shows the code ${code}.`,
  deviceWarning: 'Allow this only if the device is in front of you and shows exactly this code.',
  deviceFromOthers: 'If somebody sent you the code or a link, refuse: they would get access to your data.',
  deviceAfter: 'Either way, the device then continues by itself.',
  allow: 'Allow',
  refuse: 'Refuse',
  nowhereTitle: 'No suitable membership',
  forMembers: {
    club: (app) => html`${app} is for members of a club`,
    academy: (app) => html`${app} is for members of an academy`,
    provider: (app) => html`${app} is for members of a provider`,
    organisation: (app) => html`${app} is for members of an organisation`,
  },
  nowhere: {
    club: (member) =>
      html`${member} is not a member of a club at the moment. Your club can correct this if it is wrong.`,
    academy: (member) => html`${member} is not a member of an academy at the moment. Your academy can correct this if it
      is wrong.`,
    provider: (member) => html`${member} is not a member of a provider at the moment. Your provider can correct this if
      it is wrong.`,
    organisation: (member) => html`${member} is not a member of any organisation at the moment. Your organisation can
      correct this if it is wrong.`,
  },
  connectedFor: (member) => html`Apps with access to data of ${member}`,
  connectedNone: 'There are none at the moment. Apps that you allow appear here.',
  replayed: (
    app,
    organisation,
    day,
  ) => html`On ${day}, the access of ${app} (${organisation}) was ended, because one of its sign-in keys was used twice.
    Somebody may have copied it. If you did not expect this, allow the app again only if you trust it.`,
  since: 'Allowed on',
  lastUse: 'Last used',
  unused: 'not yet',
  longAgo: 'more than 30 days ago',
  ends: 'Ends on',
  withdraw: 'Remove access',
  withdrawQuestion: (app) => html`Remove access for ${app}?`,
  withdrawHint: (
    app,
    member,
    organisation,
  ) => html`${app} then loses its access to data of ${member} (${organisation}) within
    seconds. You can allow it again later.`,
  withdrawKept: 'Data that it has already stored or copied is not deleted.',
  keep: 'Keep access',
  withdrawn: (app) => html`${app} no longer has access.`,
  signOut: 'Sign out',
  endQuestion: 'Sign out of this browser?',
  endAsked: (app) => html`${app} asks you to.`,
  endHint: (member) => html`You are signed in as ${member}. Apps that you have allowed keep their access.`,
  endStay: 'Stay signed in',
}

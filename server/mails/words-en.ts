import type { DueMail } from '../../routers/developer/mails/due.ts'
import type { Sentences } from './bodies.ts'

export interface Named {
  /** The name of the client, app or team. */
  name: string
  isTeam?: boolean
  team: string
  brand: string | undefined
  isNew: boolean
  reason: string
  count: number
  addresses: readonly string[]
  /** Unix milliseconds. */
  expiresAt: number
  isExpired: boolean
}

type Invitation = NonNullable<DueMail['invitation']>

const role = { owner: 'an owner', developer: 'a developer' }

const day = (ms: number) => new Date(ms).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

const listed = (addresses: readonly string[]) =>
  addresses.length === 0 ? [] : [['Among them these addresses:', ...addresses].join('\n')]

export const en = {
  types: {
    invitation: 'Invitations to teams',
    requestReceived: 'Requests received',
    requestApproved: 'Requests approved',
    requestRefused: 'Requests not approved',
    webhookFailing: 'Webhooks that fail for 24 hours',
    webhookEnded: 'Webhooks that were switched off',
    secretExpiring: 'Client secrets that expire',
    approvalRequested: 'Requests to clubs that you administer',
    guardianAsked: 'Requests of children whom you decide for',
  },
  invitation: ({ team, brand }: Named, { by, role: as, expiresAt }: Invitation): Sentences => ({
    subject: `Invitation to the team ${team}`,
    paragraphs: [
      `${by ?? 'The operator'} invites you to the team “${team}”, as ${role[as]}. The team makes apps for members${brand ? ` of ${brand}` : ''}.`,
      `Sign in with this e-mail address until ${day(expiresAt)} to accept or decline.`,
    ],
    link: 'Sign in',
  }),
  requestReceived: ({ name, isNew, isTeam }: Named): Sentences => ({
    subject: `Request received: ${name}`,
    paragraphs: [
      isTeam
        ? `Your request for the team “${name}” was received. You get another e-mail once it is decided.`
        : isNew
          ? `The request for the production client “${name}” was received. Nobody can sign in with it until it is approved.`
          : `The changes to “${name}” were received. Until they are approved, the previous values apply.`,
    ],
    link: 'See the request',
  }),
  requestApproved: ({ name, isNew, isTeam }: Named): Sentences => ({
    subject: `Approved: ${name}`,
    paragraphs: [
      isTeam
        ? `Your team “${name}” was approved, and you are its owner. You can create its first app now.`
        : isNew
          ? `The production client “${name}” was approved. Members can sign in with it now.`
          : `The changes to “${name}” were approved, and are in effect.`,
    ],
    link: isTeam ? 'Open the team' : isNew ? 'See the client' : 'See the changes',
  }),
  requestRefused: ({ name, isNew, isTeam, reason }: Named): Sentences => ({
    subject: `Not approved: ${name}`,
    paragraphs: [
      isTeam
        ? `Your request for the team “${name}” was not approved. The reason:`
        : isNew
          ? `The request for the production client “${name}” was not approved. The reason:`
          : `The changes to “${name}” were not approved, and the previous values still apply. The reason:`,
      reason,
      'What you asked for is still there: you can change it and send it again.',
    ],
    link: 'Change the request',
  }),
  webhookFailing: ({ name, count, addresses }: Named): Sentences => ({
    subject: `Webhook failing for 24 hours: ${name}`,
    paragraphs: [
      `No event of “${name}” has arrived for 24 hours at ${count === 1 ? 'one of its subscriptions' : `${count} of its subscriptions`}.`,
      ...listed(addresses),
      'A delivery is given up about 28 hours after its first attempt. You can send deliveries that failed again in the portal.',
    ],
    link: 'See the deliveries',
  }),
  webhookEnded: ({ name, count, addresses }: Named): Sentences => ({
    subject: `Webhook switched off: ${name}`,
    paragraphs: [
      `The receiver of ${count === 1 ? 'a subscription' : `${count} subscriptions`} to “${name}” has answered 410 Gone. Nothing more is sent there.`,
      ...listed(addresses),
      'If this was a mistake, subscribe again once the receiver works; an address is resumed in the portal.',
    ],
    link: 'See the deliveries',
  }),
  secretExpiring: ({ name, expiresAt, isExpired }: Named): Sentences => ({
    subject: isExpired ? `Client secret expired: ${name}` : `Client secret expires on ${day(expiresAt)}: ${name}`,
    paragraphs: isExpired
      ? [
          `The secret of the client “${name}” expired on ${day(expiresAt)}. Your server can no longer get or renew tokens with it.`,
          'Create a new secret and store it on your server.',
        ]
      : [
          `The secret of the client “${name}” expires on ${day(expiresAt)}. After that your server can no longer get or renew tokens with it.`,
          'Create a new secret now: both are valid until then, so you can replace it without interruption.',
        ],
    link: 'Create a secret',
  }),
  unexpected: 'If you do not expect this, ignore this e-mail: nobody joins a team without signing in.',
  because: (team: string) => `You get this e-mail because you are in the team “${team}”.`,
  becauseAsked: 'You get this e-mail because you asked for a team.',
  choose: 'Choose which e-mails you get',
}

export type MailWords = typeof en

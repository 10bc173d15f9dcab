import type { ClubApprovalState } from '../../../../prisma/generated/client.ts'
import type { Html } from '../../../browser/pages/html.ts'
import { html } from '../../../browser/pages/html.ts'
import type { ClosedClub } from '../../consents/consent-choices.ts'

/** The texts about the decisions of clubs. A language that lacks one does not compile. */
export interface ClubWords {
  approvalTitle: string
  approvalNeeded: (app: Html) => Html
  approvalHint: (member: Html) => Html
  alsoClosed: string
  closed: Record<ClosedClub['state'], string>
  askClub: (club: Html, app: Html) => Html
  clubApps: (club: Html) => Html
  clubAppsTitle: string
  clubAppsLead: string
  clubAppsNone: string
  otherClubs: string
  noClubTitle: string
  noClub: (member: Html) => Html
  stateName: string
  states: Record<ClubApprovalState | 'undecided', string>
  askedOn: string
  decidedOn: string
  reason: string
  wantedScopes: string
  approve: string
  refuseApp: string
  reasonHint: string
  undecidedHint: string
  withdrawApproval: string
  withdrawAppQuestion: (app: Html, club: Html) => Html
  withdrawEnds: (members: number, app: Html) => Html
  keepApproval: string
  decided: Record<'approved' | 'refused' | 'withdrawn', (app: Html) => Html>
  earlier: string
  later: string
}

export const en: ClubWords = {
  approvalTitle: 'Your club decides first',
  approvalNeeded: (app) => html`${app} needs your club’s approval`,
  approvalHint: (member) =>
    html`Clubs decide which apps their members may allow, and see who asks. You are signed in as ${member}.`,
  alsoClosed: 'Not available yet:',
  closed: {
    unasked: 'has not decided on this app yet.',
    requested: 'has been asked, and has not decided yet.',
    refused: 'does not allow this app.',
  },
  askClub: (club, app) => html`Ask ${club} to allow ${app}`,
  clubApps: (club) => html`Apps of ${club}`,
  clubAppsTitle: 'Apps of the club',
  clubAppsLead: 'Members can allow an app once you have approved it for the club.',
  clubAppsNone: 'No member has asked for an app yet.',
  otherClubs: 'Other clubs:',
  noClubTitle: 'For administrators of a club',
  noClub: (member) =>
    html`${member} is not an administrator of a club at the moment. Administrators are named on the club’s platform.`,
  stateName: 'State',
  states: {
    undecided: 'in use, not decided yet',
    requested: 'a member has asked',
    approved: 'approved',
    refused: 'refused',
    withdrawn: 'approval withdrawn',
  },
  askedOn: 'First asked on',
  decidedOn: 'Decided on',
  reason: 'Reason',
  wantedScopes: 'What the app asks members for, and why',
  approve: 'Approve',
  refuseApp: 'Refuse',
  reasonHint: 'The app’s developers read it. At most 500 characters.',
  undecidedHint: 'Members already use it. A refusal ends their access.',
  withdrawApproval: 'Withdraw approval',
  withdrawAppQuestion: (app, club) => html`Withdraw the approval of ${app} for ${club}?`,
  withdrawEnds: (members, app) =>
    members === 1
      ? html`The consent of 1 member ends. ${app} then loses access to their data within seconds.`
      : html`The consents of ${members} members end. ${app} then loses access to their data within seconds.`,
  keepApproval: 'Keep approval',
  decided: {
    approved: (app) => html`Members of the club can now allow ${app}.`,
    refused: (app) => html`${app} was refused.`,
    withdrawn: (app) => html`${app} no longer has access.`,
  },
  earlier: 'Previous page',
  later: 'Next page',
}

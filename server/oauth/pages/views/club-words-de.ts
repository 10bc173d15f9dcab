import { html } from '../../../browser/pages/html.ts'
import type { ClubWords } from './club-words-en.ts'

export const de: ClubWords = {
  approvalTitle: 'Erst entscheidet der Verein',
  approvalNeeded: (app) => html`${app} braucht die Zustimmung des Vereins`,
  approvalHint: (member) =>
    html`Vereine entscheiden, welche Apps ihre Mitglieder zulassen können, und erfahren, wer fragt. Angemeldet ist ${member}.`,
  alsoClosed: 'Noch nicht verfügbar:',
  closed: {
    unasked: 'hat über diese App noch nicht entschieden.',
    requested: 'ist angefragt und hat noch nicht entschieden.',
    refused: 'lässt diese App nicht zu.',
  },
  askClub: (club, app) => html`${club} bitten, ${app} zuzulassen`,
  clubApps: (club) => html`Apps von ${club}`,
  clubAppsTitle: 'Apps des Vereins',
  clubAppsLead: 'Mitglieder können eine App zulassen, sobald der Verein ihr zugestimmt hat.',
  clubAppsNone: 'Bisher hat kein Mitglied nach einer App gefragt.',
  otherClubs: 'Andere Vereine:',
  noClubTitle: 'Nur für die Verwaltung eines Vereins',
  noClub: (member) =>
    html`${member} verwaltet zurzeit keinen Verein. Wer das darf, wird auf der Plattform des Vereins festgelegt.`,
  stateName: 'Stand',
  states: {
    undecided: 'in Gebrauch, noch nicht entschieden',
    requested: 'ein Mitglied hat gefragt',
    approved: 'zugelassen',
    refused: 'abgelehnt',
    withdrawn: 'Zustimmung zurückgezogen',
  },
  askedOn: 'Zuerst gefragt am',
  decidedOn: 'Entschieden am',
  reason: 'Grund',
  wantedScopes: 'Worum die App Mitglieder bittet, und wofür',
  approve: 'Zustimmen',
  refuseApp: 'Ablehnen',
  reasonHint: 'Das Team der App liest ihn. Höchstens 500 Zeichen.',
  undecidedHint: 'Mitglieder nutzen die App bereits. Eine Ablehnung beendet ihren Zugriff.',
  withdrawApproval: 'Zustimmung zurückziehen',
  withdrawAppQuestion: (app, club) => html`Die Zustimmung zu ${app} für ${club} zurückziehen?`,
  withdrawEnds: (members, app) =>
    members === 1
      ? html`Die Einwilligung von 1 Mitglied endet. ${app} verliert dann innerhalb von Sekunden den Zugriff auf seine Daten.`
      : html`Die Einwilligungen von ${members} Mitgliedern enden. ${app} verliert dann innerhalb von Sekunden den Zugriff auf
        ihre Daten.`,
  keepApproval: 'Zustimmung behalten',
  decided: {
    approved: (app) => html`Mitglieder des Vereins können ${app} jetzt zulassen.`,
    refused: (app) => html`${app} wurde abgelehnt.`,
    withdrawn: (app) => html`${app} hat keinen Zugriff mehr.`,
  },
  earlier: 'Vorige Seite',
  later: 'Nächste Seite',
}

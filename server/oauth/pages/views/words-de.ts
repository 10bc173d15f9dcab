import { html } from '../../../browser/pages/html.ts'
import type { Words } from './words-en.ts'

export const de: Words = {
  consentTitle: 'App zulassen',
  consentQuestion: (app) => html`${app} zulassen?`,
  testClient: 'Testclient, nicht geprüft.',
  testClientHint: 'Er erhält nur die Daten eines erfundenen Mitglieds.',
  testAsks: (member) => html`Die App bittet um Zugriff auf den Testverein. Angemeldet ist ${member}.`,
  asks: (member) => html`Die App bittet um Zugriff auf persönliche Daten. Angemeldet ist ${member}.`,
  notYou: 'Falsches Konto?',
  switchAccount: 'Konto wechseln',
  organisation: { club: 'Verein', academy: 'Akademie', provider: 'Anbieter', organisation: 'Organisation' },
  which: {
    club: 'Für welchen Verein?',
    academy: 'Für welche Akademie?',
    provider: 'Für welchen Anbieter?',
    organisation: 'Für welche Organisation?',
  },
  sees: 'Was die App sehen darf',
  changes: 'Was die App tun und ändern darf',
  untick: 'Was die App nicht bekommen soll, bitte abwählen.',
  allowing: (app, connected) => html`Mit „Zulassen“ bekommt ${app} alles Angekreuzte: ein Jahr lang, oder bis der
    Zugriff unter ${connected} entzogen wird.`,
  returning: (host) => html`In jedem Fall geht es danach zurück zu ${host}.`,
  deviceTitle: 'Gerät verbinden',
  deviceLead:
    'Für ein Gerät, das hier vor Ort steht und einen Code zeigt. Kam der Code oder ein Link zu dieser Seite von jemand anderem: bitte die Seite schließen. Sonst erhält diese Person Zugriff auf persönliche Daten.',
  deviceCode: 'Code auf dem Gerät',
  deviceCodeHint: '8 Buchstaben',
  deviceContinue: 'Weiter',
  deviceAsks: (code) => html`Die Anfrage kommt von einem Gerät, das den Code ${code} zeigt.`,
  deviceWarning: 'Nur zulassen, wenn das Gerät hier vor Ort steht und genau diesen Code zeigt.',
  deviceFromOthers:
    'Kam der Code oder ein Link von jemand anderem: bitte ablehnen. Sonst erhält diese Person Zugriff auf persönliche Daten.',
  deviceAfter: 'In jedem Fall geht es danach auf dem Gerät von selbst weiter.',
  allow: 'Zulassen',
  refuse: 'Ablehnen',
  nowhereTitle: 'Keine passende Mitgliedschaft',
  forMembers: {
    club: (app) => html`${app} ist für Mitglieder eines Vereins`,
    academy: (app) => html`${app} ist für Mitglieder einer Akademie`,
    provider: (app) => html`${app} ist für Mitglieder eines Anbieters`,
    organisation: (app) => html`${app} ist für Mitglieder einer Organisation`,
  },
  nowhere: {
    club: (member) => html`${member} ist zurzeit in keinem Verein Mitglied. Falls das nicht stimmt, kann der Verein es
      berichtigen.`,
    academy: (
      member,
    ) => html`${member} ist zurzeit in keiner Akademie Mitglied. Falls das nicht stimmt, kann die Akademie
      es berichtigen.`,
    provider: (member) => html`${member} ist zurzeit bei keinem Anbieter Mitglied. Falls das nicht stimmt, kann der
      Anbieter es berichtigen.`,
    organisation: (
      member,
    ) => html`${member} ist zurzeit in keiner Organisation Mitglied. Falls das nicht stimmt, kann die
      Organisation es berichtigen.`,
  },
  connectedFor: (member) => html`Apps mit Zugriff auf Daten von ${member}`,
  connectedNone: 'Zurzeit gibt es keine. Zugelassene Apps erscheinen hier.',
  replayed: (
    app,
    organisation,
    day,
  ) => html`Am ${day} wurde der Zugriff von ${app} (${organisation}) beendet, weil einer ihrer Anmeldeschlüssel zweimal
    benutzt wurde. Vielleicht hat ihn jemand kopiert. Kommt das unerwartet, sollte die App nur erneut zugelassen werden,
    wenn sie vertrauenswürdig ist.`,
  since: 'Zugelassen am',
  lastUse: 'Zuletzt genutzt',
  unused: 'noch nicht',
  longAgo: 'vor mehr als 30 Tagen',
  ends: 'Endet am',
  withdraw: 'Zugriff entziehen',
  withdrawQuestion: (app) => html`${app} den Zugriff entziehen?`,
  withdrawHint: (
    app,
    member,
    organisation,
  ) => html`${app} verliert dann innerhalb von Sekunden den Zugriff auf Daten von
    ${member} (${organisation}). Die App lässt sich später erneut zulassen.`,
  withdrawKept: 'Daten, die sie bereits gespeichert oder kopiert hat, werden dadurch nicht gelöscht.',
  keep: 'Zugriff behalten',
  withdrawn: (app) => html`${app} hat keinen Zugriff mehr.`,
  signOut: 'Abmelden',
  endQuestion: 'In diesem Browser abmelden?',
  endAsked: (app) => html`${app} bittet darum.`,
  endHint: (member) => html`Angemeldet ist ${member}. Zugelassene Apps behalten ihren Zugriff.`,
  endStay: 'Angemeldet bleiben',
}

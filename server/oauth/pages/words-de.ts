import { html } from '../../pages/html.ts'
import type { Words } from './words-en.ts'

/** German without direct address: some clubs say `du`, others `Sie`. */
export const de: Words = {
  mark: 'Apps für Mitglieder',
  problemTitle: 'Problem',
  signIn: 'Anmelden',
  signInFor: (app, team) => html`Danach geht es weiter zu ${app}, einer App von ${team}.`,
  signInForConnected: 'Danach wird angezeigt, welche Apps Zugriff haben.',
  upstream: (name) => html`Mit ${name} anmelden`,
  or: 'oder',
  email: 'E-Mail-Adresse',
  emailHint:
    'Die Adresse, die beim Verein hinterlegt ist. Wir senden einen Code dorthin; ein Passwort ist nicht nötig.',
  sendCode: 'Code zusenden',
  noLoginMethod: 'Die Anmeldung ist hier noch nicht eingerichtet.',
  developmentLogin: 'Ausprobieren',
  developmentLoginHint: 'Dies ist ein Entwicklungsrechner mit Beispieldaten: Jedes Mitglied kann gewählt werden.',
  member: 'Mitglied',
  codeTitle: 'Code eingeben',
  codeSent: (
    email,
  ) => html`Falls ${email} zu einem Mitglied gehört, haben wir einen Code dorthin gesendet. Er gilt 10 Minuten
    lang und nur in diesem Browser.`,
  code: 'Code',
  codeHint: '8 Ziffern aus der E-Mail',
  otherAddress: 'Andere Adresse verwenden oder neuen Code anfordern',
  personTitle: 'Wer meldet sich an?',
  personHint: 'Mehrere Mitglieder teilen sich diese Adresse.',
  consentTitle: 'App zulassen',
  consentQuestion: (app) => html`${app} zulassen?`,
  by: (team) => html`Eine App von ${team}`,
  asks: (member) => html`Die App bittet um Zugriff auf Daten von ${member}. Dieses Mitglied ist hier angemeldet.`,
  organisation: { club: 'Verein', academy: 'Akademie', provider: 'Anbieter', organisation: 'Organisation' },
  which: {
    club: 'Für welchen Verein?',
    academy: 'Für welche Akademie?',
    provider: 'Für welchen Anbieter?',
    organisation: 'Für welche Organisation?',
  },
  sees: 'Was die App sehen darf',
  changes: 'Was die App tun und ändern darf',
  untick: 'Was die App nicht bekommen soll, einfach abwählen.',
  allowing: (app) => html`Mit „Zulassen“ bekommt ${app} alles Angekreuzte, auch für spätere Besuche. Unter
    <strong>Verbundene Apps</strong> lässt sich das jederzeit widerrufen. Mit „Ablehnen“ bekommt die App nichts.`,
  goesBack: (host) => html`In beiden Fällen geht es danach zurück zu ${host}.`,
  allow: 'Zulassen',
  refuse: 'Ablehnen',
  connected: 'Verbundene Apps',
  connectedFor: (member) => html`Was ${member} Apps erlaubt hat.`,
  connectedNone: 'Es sind keine Apps verbunden. Zugelassene Apps erscheinen hier.',
  since: 'Zugelassen am',
  withdraw: 'Widerrufen',
  withdrawHint:
    'Nach dem Widerruf verliert die App innerhalb von Sekunden den Zugriff. Die von ihr gespeicherten Daten bleiben.',
  withdrawn: (app) => html`${app} hat keinen Zugriff mehr.`,
  signOut: 'Abmelden',
  problems: {
    emailInvalid: 'Das ist keine gültige E-Mail-Adresse. Beispiel: name@example.org.',
    codeWrong: 'Dieser Code ist falsch. Bitte mit der neuesten E-Mail vergleichen.',
    codeExpired: 'Dieser Code ist nicht mehr gültig. Bitte einen neuen anfordern.',
    tooOften: 'In kurzer Zeit wurden zu viele Codes angefordert. Bitte später noch einmal versuchen.',
    upstreamFailed: 'Die Anmeldung ist fehlgeschlagen. Bitte noch einmal versuchen oder einen anderen Weg wählen.',
    memberUnknown: 'Zu dieser Anmeldung wurde kein Mitglied gefunden. Der Verein weiß, welche Adresse hinterlegt ist.',
    organisationMissing: 'Es gibt keine Mitgliedschaft, für die diese App zugelassen werden kann.',
    scopesMissing: 'Es ist nichts angekreuzt. Bitte mindestens einen Punkt ankreuzen oder ablehnen.',
  },
  messages: {
    expired: {
      title: 'Diese Seite ist abgelaufen',
      text: 'Es wurde nichts zugelassen. Bitte in der App neu beginnen.',
    },
    notFound: {
      title: 'Seite nicht gefunden',
      text: 'Die Adresse enthält vielleicht einen Tippfehler oder ist veraltet.',
    },
    crossSite: {
      title: 'Diese Anfrage kam von einer anderen Website',
      text: 'Zur Sicherheit wurde nichts geändert. Bitte in der App neu beginnen.',
    },
    requestWrong: {
      title: 'Die App hat eine ungültige Anfrage gesendet',
      text: 'Es wurde nichts zugelassen. Die Entwickler der App können den Fehler beheben.',
    },
    tooManyRequests: { title: 'Zu viele Anfragen', text: 'Bitte in einer Minute noch einmal versuchen.' },
    unavailable: { title: 'Zurzeit nicht erreichbar', text: 'Bitte in einer Minute noch einmal versuchen.' },
    signedOut: { title: 'Abgemeldet', text: 'Zugelassene Apps behalten ihren Zugriff.' },
  },
}

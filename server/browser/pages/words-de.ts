import { html } from './html.ts'
import type { Words } from './words-en.ts'

/** German without direct address: some clubs use `du`, others `Sie`. */
export const de: Words = {
  mark: 'Apps für Mitglieder',
  problemTitle: 'Problem',
  signIn: 'Anmelden',
  signInFor: (app, team) => html`und weiter zu ${app}, einer App von ${team}`,
  signInForConnected: 'und sehen, welche Apps Zugriff auf die eigenen Daten haben',
  signInForDevelopers: 'und weiter zum Entwicklerportal',
  signInForClubs: 'und weiter zu den Apps des Vereins',
  upstream: (name) => html`Mit ${name} anmelden`,
  or: 'oder',
  email: 'E-Mail-Adresse',
  emailHint:
    'Die Adresse, die beim Verein hinterlegt ist. Wir schicken einen Code dorthin; ein Passwort ist nicht nötig.',
  sendCode: 'Code anfordern',
  noLoginMethod: 'Die Anmeldung ist hier noch nicht eingerichtet.',
  developmentLogin: 'Ausprobieren',
  developmentLoginHint: 'Dieser Dienst läuft mit Beispieldaten. Die Anmeldung ist mit jedem Mitglied möglich.',
  member: 'Mitglied',
  codeTitle: 'Code eingeben',
  codeSent: (email) => html`Falls ${email} zu einem Mitglied gehört, haben wir einen Code dorthin geschickt. Er gilt 10
    Minuten lang und nur in diesem Browser.`,
  code: 'Code',
  codeHint: '8 Ziffern aus der E-Mail',
  otherAddress: 'Andere Adresse verwenden oder neuen Code anfordern',
  personTitle: 'Wer meldet sich an?',
  personHint: 'Mehrere Mitglieder teilen sich diese Adresse.',
  otherWay: 'Auf anderem Weg anmelden',
  by: (team) => html`Eine App von ${team}`,
  connected: 'Verbundene Apps',
  signInAgain: 'Erneut anmelden',
  tryAgain: 'Noch einmal versuchen',
  backToApp: (app, host) => html`Zurück zu ${app} (${host})`,
  quote: 'Bei Rückfragen bitte diese Nummer angeben:',
  problems: {
    emailInvalid: 'Das ist keine gültige E-Mail-Adresse. Beispiel: name@example.org.',
    codeWrong: 'Dieser Code ist falsch. Bitte mit der neuesten E-Mail vergleichen.',
    codeExpired: 'Dieser Code ist nicht mehr gültig. Bitte einen neuen anfordern.',
    tooOften: 'In kurzer Zeit wurden zu viele Codes angefordert. Bitte später noch einmal versuchen.',
    upstreamFailed: 'Die Anmeldung ist fehlgeschlagen. Bitte noch einmal versuchen oder einen anderen Weg wählen.',
    memberUnknown: 'Zu dieser Anmeldung wurde kein Mitglied gefunden. Der Verein weiß, welche Adresse hinterlegt ist.',
    organisationMissing: 'Bitte eine dieser Organisationen auswählen.',
    scopesMissing: 'Es ist nichts angekreuzt. Bitte mindestens einen Punkt ankreuzen oder ablehnen.',
    deviceCodeWrong:
      'Dieser Code ist falsch oder nicht mehr gültig. Bitte mit dem Gerät vergleichen; die meisten Geräte können einen neuen anzeigen.',
    reasonInvalid: 'Bitte einen Grund mit höchstens 500 Zeichen angeben.',
    reasonUnseen: 'Bitte einen Grund mit höchstens 500 Zeichen angeben. Er darf keine unsichtbaren Zeichen enthalten.',
    decidedMeanwhile: 'Inzwischen wurde anders entschieden. Es wurde nichts geändert.',
  },
  messages: {
    expired: {
      title: 'Diese Seite ist abgelaufen',
      text: 'Anmeldeseiten gelten 15 Minuten lang und nur in dem Browser, in dem sie geöffnet wurden. Es wurde kein Zugriff gewährt. Bitte zurück zur App wechseln und dort neu beginnen.',
    },
    notFound: {
      title: 'Seite nicht gefunden',
      text: 'Die Adresse enthält vielleicht einen Tippfehler oder ist veraltet.',
    },
    crossSite: {
      title: 'Diese Anfrage kam von einer anderen Website',
      text: 'Zur Sicherheit wurde nichts geändert. Falls gerade eine App zugelassen werden sollte: bitte in der App neu beginnen.',
    },
    requestWrong: {
      title: 'Die Anfrage ist ungültig',
      text: 'Es wurde kein Zugriff gewährt. Falls eine App hierher geführt hat, kann ihr Team das beheben: Bitte die Angaben unten an dieses Team weitergeben.',
    },
    tooManyRequests: {
      title: 'Zu viele Anfragen',
      text: 'Von dieser Anmeldung oder aus diesem Netzwerk kamen in kurzer Zeit zu viele. Bitte eine Minute warten und es dann noch einmal versuchen.',
    },
    unavailable: {
      title: 'Zurzeit nicht erreichbar',
      text: 'Das liegt an uns. Bitte eine Minute warten und es dann noch einmal versuchen.',
    },
    inDevelopment: {
      title: 'Diese App ist noch in Entwicklung',
      text: 'Zurzeit können sich nur ihre Entwickler anmelden. Es wurde kein Zugriff gewährt.',
    },
    notApproved: {
      title: 'Diese App ist noch nicht freigegeben',
      text: 'Bis zur Freigabe kann sich niemand bei ihr anmelden. Es wurde kein Zugriff gewährt.',
    },
    signedOut: { title: 'Abgemeldet', text: 'Zugelassene Apps behalten ihren Zugriff.' },
    deviceAllowed: {
      title: 'Das Gerät ist verbunden',
      text: 'Dort geht es in wenigen Sekunden von selbst weiter. Diese Seite kann geschlossen werden.',
    },
    deviceRefused: {
      title: 'Das Gerät wurde abgelehnt',
      text: 'Es erhält keinen Zugriff. Diese Seite kann geschlossen werden.',
    },
  },
}

import type { Fault, faultSentences, keyReasons, RedirectReason } from '../../../routers/developer/shared/validation.ts'
import { formatSentence } from '../../../routers/developer/shared/validation.ts'
import type { ApiError } from '../../../routers/kernel/errors.ts'
import type { PortalLanguage } from '../../browser/language.ts'
import type { Form, FormProblem } from '../forms/form.ts'

export function toProblems(
  error: ApiError,
  form: Pick<Form<object>, 'fieldAtFault'>,
  language: PortalLanguage,
): FormProblem[] {
  if (error.faults.length > 0) {
    return (error.faults as readonly Fault[]).map((fault) => ({
      name: fault.field,
      text:
        language === 'de'
          ? (faults[fault.rule] as (...values: readonly string[]) => string)(...fault.values)
          : formatSentence(fault),
    }))
  }
  const german = language === 'de' ? errors[error.id] : undefined
  const text = typeof german === 'function' ? german(error) : (german ?? error.message)
  return [{ name: form.fieldAtFault(error), text }]
}

const things: Record<string, string> = { client: 'Clients', app: 'App', team: 'Teams' }
const genitive = (thing: string) => (thing === 'app' ? 'der App' : `des ${things[thing]}`)

const redirectReasons: Record<RedirectReason, string> = {
  whiteSpace: 'Sie enthält Leerraum',
  notAscii: 'Zeichen außerhalb von ASCII müssen kodiert sein, im Host als xn--, sonst mit Prozentzeichen',
  notEncoded: 'Sie enthält ein Zeichen, das mit Prozentzeichen kodiert sein muss',
  notAbsolute: 'Sie ist keine absolute URI',
  schemeMissing: 'Es fehlt das Schema, also http:// oder https:// davor',
  fragment: 'Sie hat ein Fragment',
  nativeScheme: 'Das Schema einer nativen App enthält einen Punkt, wie com.example.app',
  webScheme: 'Ein Web-Client verwendet https://',
  noHost: 'Sie hat keinen Host',
  userName: 'Sie enthält einen Benutzernamen',
  wildcard: 'Platzhalter sind nicht möglich',
  httpHost: 'http:// ist nur für 127.0.0.1 und [::1] erlaubt',
  nativeLocalhost: 'Eine native App verwendet 127.0.0.1, [::1] oder localhost statt eines Namens darunter',
  localhost: 'localhost ist nur für die Entwicklung und für Sandbox-Clients erlaubt',
  nativeHttps: 'Eine native App verwendet auf diesem Gerät http://',
}

const keySentences: Record<keyof typeof keyReasons, string> = {
  missing: 'Es fehlt ein Schlüssel.',
  tooMany: 'Ein Client kann höchstens zwei Schlüssel haben.',
  notList: 'keys ist eine Liste.',
  format: 'Die Schlüssel sind weder JSON noch PEM.',
  private: 'Das ist ein privater Schlüssel: Gebraucht wird nur der öffentliche.',
  unreadable: 'Ein Schlüssel ist nicht lesbar.',
  weak: 'Ein Schlüssel ist P-256, Ed25519 oder RSA mit 2048 bis 4096 Bit.',
  kid: 'Die kid eines Schlüssels hat 1 bis 255 sichtbare ASCII-Zeichen.',
}

const textNames: Record<string, (of: string) => string> = {
  name: (of) => `Der Name ${genitive(of)}`,
  description: () => 'Die Beschreibung',
  purpose: (of) => `Der Zweck von ${of}`,
}
const describeSubject = (text: string, of: string) => textNames[text]!(of)

/** The sentences of routers/developer/shared/validation.ts. */
export const faults: {
  [Rule in keyof typeof faultSentences]: (...values: Parameters<(typeof faultSentences)[Rule]>) => string
} = {
  id: (of) => `Die ID ${genitive(of)} besteht aus 1 bis 64 Buchstaben, Ziffern, _ oder -.`,
  name: (of) => `Der Name ${genitive(of)} hat 1 bis 100 Zeichen in einer Zeile.`,
  spaces: (of) => `Der Name ${genitive(of)} beginnt oder endet mit Leerraum.`,
  unseen: (text, of, character) =>
    `${describeSubject(text, of)} enthält ${character}, das unsichtbar ist oder den Text daneben verändert.`,
  stray: (text, of, character) =>
    `${describeSubject(text, of)} enthält ${character} an einer Stelle, an der es nichts verbindet: Es gehört zwischen Buchstaben oder Emoji.`,
  description: () => 'Die Beschreibung hat höchstens 500 Zeichen, ohne Steuerzeichen.',
  homepage: () => 'Die Website ist eine https-Adresse von höchstens 2048 Zeichen, ohne Benutzernamen.',
  homepageCharacters: () =>
    'Die Website enthält Leerraum oder Zeichen, die kodiert sein müssen: im Host als xn--, sonst mit Prozentzeichen.',
  redirectMissing: () => 'Es fehlt eine Redirect-URI, außer für die Anmeldung auf Geräten.',
  redirectTooLong: () => 'Eine Redirect-URI hat höchstens 2048 Zeichen.',
  redirect: (address, reason) =>
    `${address} kann keine Redirect-URI sein: ${redirectReasons[reason as RedirectReason]}.`,
  logoutElsewhere: (address) => `${address} gehört zu keinem Host der Redirect-URIs.`,
  logoutsTooLong: () => 'Die Redirect-URIs nach dem Abmelden haben zusammen höchstens 64 KiB.',
  scopeMissing: () => 'Es fehlt eine Berechtigung.',
  scopeUnknown: (scope) => `Die Berechtigung ${scope} gibt es nicht.`,
  scopeOpenid: () => 'profile und email setzen openid voraus.',
  scopeLevel: (scope) => `${scope} ist Teams der Stufe Developer vorbehalten.`,
  scopeFirstParty: (scope) => `${scope} ist keine Berechtigung der Plattform.`,
  purpose: (scope) => `Bitte in 1 bis 1000 Zeichen, ohne Steuerzeichen, sagen, wozu ${scope} dient.`,
  teamPurpose: () => 'Bitte in 1 bis 1000 Zeichen, ohne Steuerzeichen, sagen, wozu das Team dient.',
  value: () => 'Der Wert muss JSON sein, mit höchstens 256 Ebenen von Listen und Objekten.',
  publicKey: (reason) => keySentences[reason as keyof typeof keyReasons],
  pictureTooLarge: () => 'Das Logo hat höchstens 128 KiB.',
  pictureFormat: () => 'Das Logo ist ein PNG oder JPEG.',
  pictureSize: (width, height) =>
    `Das Logo ist quadratisch und hat höchstens 512 × 512 Pixel. Dieses hat ${width} × ${height}.`,
  pictureUnreadable: () => 'Das Logo ist nicht lesbar: Die Datei ist unvollständig oder beschädigt.',
}

const retryAfter = ({ headers }: ApiError) => headers['Retry-After']

/** By error id, the errors that a form of the portal can get. */
export const errors: Record<string, string | ((error: ApiError) => string)> = {
  alreadyDelivered: 'Diese Zustellung ist bereits gelungen.',
  alreadyInTeam: 'Diese Person ist bereits in diesem Team.',
  alreadyReviewed: 'Dieses Ergebnis ist bereits bewertet.',
  appSuspended: 'Diese App ist gesperrt.',
  changedMeanwhile: 'Das wurde inzwischen geändert.',
  changesLimited: (error) =>
    `Ein Team kann am Tag höchstens 1000 Änderungen machen. Weiter geht es in ${retryAfter(error)} s.`,
  clientNotWeb: 'Nur ein Web-Client kann sich ausweisen: Eine native App kann kein Secret schützen.',
  confirmationWrong: 'Das ist nicht die ID des Clients. Es wurde nichts entfernt.',
  emailInvalid: 'Bitte eine E-Mail-Adresse angeben, etwa name@example.org.',
  eventAddressEnded: 'Diese Adresse ist pausiert oder beendet.',
  eventTypeUnknown: 'Diesen Ereignistyp gibt es nicht.',
  inputInvalid: 'Eine Eingabe ist ungültig.',
  lastOwner: 'Ein Team braucht mindestens einen Inhaber.',
  levelTooLow: 'Dafür braucht das Team die Stufe Developer.',
  nameInvalid: 'Namen bestehen aus 1 bis 64 Buchstaben, Ziffern, _ oder -.',
  nameNotConfirmed: 'Das ist nicht der Name.',
  notSandbox: 'Der Produktivbetrieb lässt sich nur für den Sandbox-Client einer App beantragen.',
  ownerNeeded: 'Das können nur Inhaber des Teams.',
  peopleLimited: (error) => `Das waren zu viele Anfragen. Weiter geht es in ${retryAfter(error)} s.`,
  quotaExceeded: 'Damit wäre der Speicher der App in diesem Verein voll.',
  requestInvalid: 'Das Formular ist unvollständig. Bitte die Seite neu laden.',
  secretInvalid: 'Das Secret besteht aus 1 bis 1024 sichtbaren ASCII-Zeichen, ohne Leerzeichen.',
  secretMissing: 'Dieser Client hat kein gültiges Secret. Bitte zuerst eines erstellen.',
  secretNeeded: 'Eine Adresse mit anderem Host oder Port braucht ein Secret.',
  sinceInvalid: 'Der Zeitraum ist ungültig.',
  staysConfidential: 'Ein produktiver Client, der sich ausweist, kann nicht wieder öffentlich werden.',
  subscriptionEnded: 'Dieses Abonnement ist beendet.',
  teamFull: 'Ein Team kann höchstens 200 Clients, 1 MiB Text und 8 MiB Logos haben.',
  teamRequestPending: 'Es gibt bereits einen offenen Antrag auf ein Team.',
  teamSignupClosed: 'Teams lassen sich hier nicht auf diesem Weg anlegen.',
  teamEnding: 'Dieses Team ist gelöscht. Bitte zuerst das Team wiederherstellen.',
  testClubLimited: (error) =>
    `Ein Team kann seinen Testverein in der Stunde höchstens 60-mal ändern. Weiter geht es in ${retryAfter(error)} s.`,
  testsLimited: (error) =>
    `Eine Adresse erhält in der Minute höchstens 10 Testereignisse. Weiter geht es in ${retryAfter(error)} s.`,
  tooManyAddresses: 'Eine App kann höchstens 10 Adressen haben, und ihre Sandbox ebenso viele.',
  tooManyApps: 'Ein Team kann höchstens 50 Apps haben.',
  tooManyClients: 'Eine App kann höchstens 20 Clients haben.',
  tooManyPeople: 'Ein Team kann höchstens 100 Personen und offene Einladungen haben.',
  tooManyRules: 'Eine App kann Regeln für höchstens 100 Sammlungen haben.',
  tooManySecrets: 'Ein Client kann höchstens zwei gültige Secrets haben. Bitte zuerst eines entfernen.',
  tooManyTeams: 'Eine Person kann höchstens drei Teams innehaben.',
  typesInvalid: 'Bitte alle Ereignistypen oder 1 bis 50 davon wählen.',
  urlInvalid: 'Die Adresse ist eine https-Adresse von höchstens 2048 Zeichen, ohne Benutzernamen.',
  webhookMissing: 'Diese App hat keinen Webhook. Bitte zuerst dessen Adresse festlegen.',
}

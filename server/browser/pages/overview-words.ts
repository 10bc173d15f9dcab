import type { Section } from '../../../routers/kernel/scopes.ts'
import type { PortalLanguage } from '../language.ts'

interface Words {
  mark: string
  overview: string
  running: string
  about: string
  tryIt: string
  sample: string
  openSample: string
  apis: string
  api: Record<Section, string>
  reference: string
  document: string
  members: string
  connectedHint: string
  connected: string
  developers: string
  errors: string
  portal: string
  documentation: string
  llms: string
  firstCall: string
  commands: { studio: string; token: string; client: string }
  unknown: string
  unknownHint: string
  apiHost: string
  back: string
  request: string
}

const en: Words = {
  mark: 'Member apps',
  overview: 'APIs for member apps',
  running: 'Your service is running',
  about: 'Four REST APIs open up a club platform to apps.',
  tryIt: 'See it work',
  sample: 'The sample app signs in a member of the demo club and shows their groups and upcoming events.',
  openSample: 'Open the sample app',
  apis: 'The APIs',
  api: {
    apps: 'Apps of club members: profile, groups, events, results, storage',
    lms: 'Apps of learners: quiz results',
    notify: 'Notification apps: webhooks',
    sync: 'Whole collections of stored data, quizzes and their results, events',
  },
  reference: 'Reference',
  document: 'OpenAPI',
  members: 'For members',
  connectedHint: 'After signing in, members see which apps they have allowed, and can remove their access.',
  connected: 'Connected apps',
  developers: 'For developers',
  errors: 'Errors and what to do',
  portal: 'Developer portal',
  documentation: 'Documentation',
  llms: 'Summary for language models',
  firstCall: 'A first call, from the folder of the service: the profile of a member',
  commands: {
    studio: 'shows and edits the data in the browser',
    token: 'prints an access token for a member',
    client: 'registers your own app',
  },
  unknown: 'Page not found',
  unknownHint: 'The address may be mistyped or out of date. Please check it, or continue from here.',
  apiHost: 'This host serves an API. Its addresses begin with',
  back: 'Overview',
  request: 'If you ask for help, please quote this number:',
}

/** German without direct address: some clubs use `du`, others `Sie`. */
const de: Words = {
  mark: 'Apps für Mitglieder',
  overview: 'APIs für Mitglieder-Apps',
  running: 'Der Dienst läuft',
  about: 'Vier REST-APIs öffnen eine Vereinsplattform für Apps.',
  tryIt: 'Ausprobieren',
  sample: 'Die Beispiel-App meldet ein Mitglied des Beispielvereins an und zeigt Gruppen und nächste Termine.',
  openSample: 'Beispiel-App öffnen',
  apis: 'Die APIs',
  api: {
    apps: 'Apps für Vereinsmitglieder: Profil, Gruppen, Termine, Ergebnisse, Speicher',
    lms: 'Apps für Lernende: Quiz-Ergebnisse',
    notify: 'Benachrichtigungs-Apps: Webhooks',
    sync: 'Ganze Sammlungen gespeicherter Daten, Quizze und ihre Ergebnisse, Ereignisse',
  },
  reference: 'Referenz',
  document: 'OpenAPI',
  members: 'Für Mitglieder',
  connectedHint: 'Nach der Anmeldung ist zu sehen, welche Apps zugelassen sind; das lässt sich dort widerrufen.',
  connected: 'Verbundene Apps',
  developers: 'Für die Entwicklung',
  errors: 'Fehler und Abhilfe',
  portal: 'Entwicklerportal',
  documentation: 'Dokumentation (englisch)',
  llms: 'Zusammenfassung für Sprachmodelle',
  firstCall: 'Ein erster Aufruf, im Ordner des Dienstes: das Profil eines Mitglieds',
  commands: {
    studio: 'zeigt und ändert die Daten im Browser',
    token: 'gibt ein Zugriffstoken eines Mitglieds aus',
    client: 'registriert eine eigene App',
  },
  unknown: 'Seite nicht gefunden',
  unknownHint:
    'Die Adresse enthält vielleicht einen Tippfehler oder ist veraltet. Bitte prüfen oder von hier aus fortfahren.',
  apiHost: 'Dieser Host stellt eine API bereit. Ihre Adressen beginnen mit',
  back: 'Übersicht',
  request: 'Bei Rückfragen bitte diese Nummer angeben:',
}

export const words: Record<PortalLanguage, Words> = { en, de }

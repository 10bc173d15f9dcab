import type { Scope } from '../../../routers/scopes.ts'
import { scopes } from '../../../routers/scopes.ts'
import type { Language } from './views.ts'

/** What each scope lets an app do, as a member reads it. */
const scopeWords: Record<Language, Record<Scope, string>> = {
  en: scopes,
  de: {
    'svc.me.profile:read': 'Name, E-Mail-Adresse, Geburtstag und Bild lesen',
    'svc.me.groups:read': 'die Gruppen sehen und die Aufgabe darin',
    'svc.me.events:read': 'den Kalender sehen',
    'svc.me.trainingplans:read': 'die Trainingspläne sehen',
    'svc.me.competitions:read': 'die Wettkampfergebnisse sehen',
    'svc.me.membercard:read': 'den Mitgliedsausweis sehen',
    'svc.apps.storage:read': 'lesen, was sie selbst für das Mitglied und den Verein gespeichert hat',
    'svc.apps.storage:write': 'ihre eigenen Daten für das Mitglied und den Verein speichern, ändern und löschen',
    'lms.me.quizzes:write': 'Quizantworten im Namen des Mitglieds abgeben',
    'ntf.apps.webhook:update': 'festlegen und aufheben, an welche Adresse die Benachrichtigungen einer App gehen',
    'ntf.apps.webhook:read': 'sehen, an welche Adresse die Benachrichtigungen einer App gehen',
  },
}

export function wordsOf(scope: Scope, language: Language): string {
  const words = scopeWords[language][scope]
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Whether a scope lets an app do more than look. */
export const changes = (scope: Scope) => !scope.endsWith(':read')

export type Kind = 'club' | 'academy' | 'provider' | 'organisation'

const kinds: Record<string, Kind> = { svc: 'club', lms: 'academy', ntf: 'provider' }

/** The kind of organisation that these scopes are about: their section's, where they are of one. */
export function kindOf(asked: readonly Scope[]): Kind {
  const [kind, ...others] = new Set(asked.map((scope) => kinds[scope.split('.')[0]!]))
  return kind === undefined || others.length > 0 ? 'organisation' : kind
}

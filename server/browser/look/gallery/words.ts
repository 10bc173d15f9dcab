import type { PortalLanguage } from '../../language.ts'

/** The sentences of the gallery; long words and names are in it on purpose. */
interface Words {
  title: string
  lead: string
  mark: string
  skip: string
  parts: Record<
    | 'buttons'
    | 'fields'
    | 'badges'
    | 'banners'
    | 'card'
    | 'facts'
    | 'table'
    | 'empty'
    | 'confirmation'
    | 'code'
    | 'diff'
    | 'timeline'
    | 'chart'
    | 'progress'
    | 'times'
    | 'tabs'
    | 'pager',
    string
  >
  next: string
  other: string
  remove: string
  cancel: string
  off: string
  states: { good: string; pending: string; bad: string; plain: string }
  sentence: string
  wrong: string
  hint: string
  name: string
  role: string
  count: string
  actions: string
  none: string
  question: string
  open: string
  used: string
}

export const words: Record<PortalLanguage, Words> = {
  en: {
    title: 'Components',
    lead: 'Each component of the pages in each state. Only a trial has this page.',
    mark: 'Look',
    skip: 'Skip to the content',
    parts: {
      buttons: 'Buttons',
      fields: 'Fields',
      badges: 'Badges',
      banners: 'Banners',
      card: 'Cards',
      facts: 'Names with values',
      table: 'Tables',
      empty: 'Empty lists',
      confirmation: 'Confirmation before removal',
      code: 'Code',
      diff: 'Changes',
      timeline: 'Timeline',
      chart: 'Chart',
      progress: 'Progress',
      times: 'Times',
      tabs: 'Tabs',
      pager: 'Pager',
    },
    next: 'Create client',
    other: 'Cancel',
    remove: 'Remove client',
    cancel: 'Cancel',
    off: 'Not available',
    states: { good: 'active', pending: 'pending approval', bad: 'suspended', plain: 'test' },
    sentence: 'Changes to what members see need approval; until then the previous values apply.',
    wrong: 'Must use https.',
    hint: 'One per line. Sign-in returns only to one of these, and the address must match exactly.',
    name: 'Name',
    role: 'Role',
    count: 'Requests',
    actions: 'Actions',
    none: 'No deliveries yet. The first one appears here when an event is sent.',
    question: '3 members will lose their consent and be signed out of the app. This cannot be undone.',
    open: 'Send a test event',
    used: '9.4 MB of 10 MB',
  },
  de: {
    title: 'Bausteine',
    lead: 'Jeder Baustein der Seiten in jedem Zustand. Nur ein Probebetrieb hat diese Seite.',
    mark: 'Aussehen',
    skip: 'Zum Inhalt springen',
    parts: {
      buttons: 'Schaltflächen',
      fields: 'Felder',
      badges: 'Marken',
      banners: 'Hinweise',
      card: 'Karten',
      facts: 'Namen mit Werten',
      table: 'Tabellen',
      empty: 'Leere Listen',
      confirmation: 'Rückfrage vor dem Entfernen',
      code: 'Code',
      diff: 'Änderungen',
      timeline: 'Zeitleiste',
      chart: 'Diagramm',
      progress: 'Fortschritt',
      times: 'Zeiten',
      tabs: 'Reiter',
      pager: 'Blättern',
    },
    next: 'Client anlegen',
    other: 'Abbrechen',
    remove: 'Client entfernen',
    cancel: 'Abbrechen',
    off: 'Nicht verfügbar',
    states: { good: 'aktiv', pending: 'wartet auf Freigabe', bad: 'gesperrt', plain: 'Test' },
    sentence:
      'Änderungen an dem, was Mitglieder sehen, müssen freigegeben werden; bis dahin gelten die bisherigen Werte.',
    wrong: 'Muss https verwenden.',
    hint: 'Eine pro Zeile. Die Anmeldung kehrt nur zu einer von diesen zurück, die genau übereinstimmen muss.',
    name: 'Name',
    role: 'Rolle',
    count: 'Anfragen',
    actions: 'Aktionen',
    none: 'Noch keine Zustellungen. Die erste erscheint hier, sobald ein Ereignis gesendet wird.',
    question:
      '3 Mitglieder verlieren ihre Einwilligung und werden von der App abgemeldet. Das lässt sich nicht rückgängig machen.',
    open: 'Testereignis senden',
    used: '9,4 MB von 10 MB',
  },
}

/** No language breaks it. */
export const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen'

import type { PortalLanguage } from '../../language.ts'
import { countText } from './number-text.ts'

/** What components say by themselves. */
interface Words {
  copy: string
  copied: string
  before: string
  now: string
  values: string
  beginning: string
  last: (value: number) => string
  highest: (value: number) => string
  pager: { label: string; newer: string; older: string; shown: (from: number, to: number) => string }
  utc: string
  /** Before the name of the reader's time zone. */
  zone: string
}

export const componentWords: Record<PortalLanguage, Words> = {
  en: {
    copy: 'Copy',
    copied: 'Copied',
    before: 'Before:',
    now: 'Now:',
    values: 'Values as a table',
    beginning: 'From',
    last: (value) => `last: ${countText(value, 'en-GB')}`,
    highest: (value) => `highest: ${countText(value, 'en-GB')}`,
    pager: {
      label: 'Pages of the list',
      newer: 'Previous',
      older: 'Next',
      shown: (from, to) => `${from} to ${to}`,
    },
    utc: 'All times are UTC.',
    zone: 'All times are in the time zone',
  },
  de: {
    copy: 'Kopieren',
    copied: 'Kopiert',
    before: 'Vorher:',
    now: 'Jetzt:',
    values: 'Werte als Tabelle',
    beginning: 'Ab',
    last: (value) => `zuletzt: ${countText(value, 'de-DE')}`,
    highest: (value) => `höchster Wert: ${countText(value, 'de-DE')}`,
    pager: {
      label: 'Seiten der Liste',
      newer: 'Zurück',
      older: 'Weiter',
      shown: (from, to) => `${from} bis ${to}`,
    },
    utc: 'Alle Zeiten in UTC.',
    zone: 'Alle Zeiten in der Zeitzone',
  },
}

import type { Language } from '../../../browser/language.ts'
import { html } from '../../../browser/pages/html.ts'
import { words as shared } from '../../../browser/pages/layout.ts'
import { de as clubDe } from './club-words-de.ts'
import { en as clubEn } from './club-words-en.ts'
import { de } from './words-de.ts'
import { en } from './words-en.ts'

export const words = { en: { ...shared.en, ...en, ...clubEn }, de: { ...shared.de, ...de, ...clubDe } }

const days = {
  en: new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }),
  de: new Intl.DateTimeFormat('de-DE', { dateStyle: 'long', timeZone: 'UTC' }),
}

export const formatDay = (date: Date, language: Language) =>
  html`<time datetime="${date.toISOString()}">${days[language].format(date)}</time>`

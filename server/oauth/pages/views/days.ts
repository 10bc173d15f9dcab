import type { Language } from '../../../browser/language.ts'
import { html } from '../../../browser/pages/html.ts'

const days = {
  en: new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }),
  de: new Intl.DateTimeFormat('de-DE', { dateStyle: 'long', timeZone: 'UTC' }),
}

export const formatDay = (date: Date, language: Language) =>
  html`<time datetime="${date.toISOString()}">${days[language].format(date)}</time>`

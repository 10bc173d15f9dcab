import type { Language } from '../language.ts'
import { html } from '../pages/html.ts'
import type { Words } from './words.ts'

const locales: Record<Language, string> = {
  en: 'en-GB',
  de: 'de-DE',
  fr: 'fr-FR',
  it: 'it-IT',
  nl: 'nl-NL',
  es: 'es-ES',
}

/** The day in UTC, such as 3 May 2026. */
export const dayText = (date: Date, { language }: Pick<Words, 'language'>) =>
  date.toLocaleDateString(locales[language], { dateStyle: 'long', timeZone: 'UTC' })

export const formatDay = (date: Date, w: Pick<Words, 'language'>) =>
  html`<time datetime="${date.toISOString()}">${dayText(date, w)}</time>`

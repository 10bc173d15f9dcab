import type { Language } from '../../browser/language.ts'
import { html } from '../../browser/pages/html.ts'

const formats = (options: Intl.DateTimeFormatOptions) => ({
  en: new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' }),
  de: new Intl.DateTimeFormat('de-DE', { ...options, timeZone: 'UTC' }),
})
const days = formats({ dateStyle: 'medium' })
const clock = formats({ timeStyle: 'medium' })

/** A day as text, without markup. */
export const dayText = (unix: number, language: Language) => days[language].format(new Date(unix * 1000))

const element = (unix: number, formats: readonly Intl.DateTimeFormat[]) => {
  const date = new Date(unix * 1000)
  const parts = formats.map((format, at) => html`${at > 0 && ' '}<span>${format.format(date)}</span>`)
  return html`<time datetime="${date.toISOString()}">${parts}</time>`
}

export const formatDay = (unix: number, language: Language) => element(unix, [days[language]])

/** In UTC; a narrow column has day and time in two lines. */
export const formatMoment = (unix: number, language: Language) => element(unix, [days[language], clock[language]])

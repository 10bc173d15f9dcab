import type { PortalLanguage } from '../../language.ts'
import { html } from '../../pages/html.ts'
import { componentWords } from './words.ts'

const locales = { en: 'en-GB', de: 'de-DE' } as const

/** Made at first use: each takes 2 ms, which a start does not wait for. */
function perLanguage<T>(make: (locale: string) => T): (language: PortalLanguage) => T {
  const made: Partial<Record<PortalLanguage, T>> = {}
  return (language) => (made[language] ??= make(locales[language]))
}
const inUtc = (options: Intl.DateTimeFormatOptions) =>
  perLanguage((locale) => new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }))
const days = inUtc({ dateStyle: 'medium' })
const clock = inUtc({ timeStyle: 'medium' })
const exact = inUtc({ dateStyle: 'medium', timeStyle: 'long' })
const relative = perLanguage((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }))

/** A day as text, without markup. */
export const dayText = (unix: number, language: PortalLanguage) => days(language).format(new Date(unix * 1000))

const element = (unix: number, formats: readonly Intl.DateTimeFormat[]) => {
  const date = new Date(unix * 1000)
  const parts = formats.map((format, at) => html`${at > 0 && ' '}<span>${format.format(date)}</span>`)
  return html`<time datetime="${date.toISOString()}">${parts}</time>`
}

/** The script shows all times in the reader's time zone; without it they are in UTC. */
export const formatDay = (unix: number, language: PortalLanguage) => element(unix, [days(language)])

/** A narrow column has day and time in two lines. */
export const formatMoment = (unix: number, language: PortalLanguage) => element(unix, [days(language), clock(language)])

const steps = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

const WEEK = 7 * 86_400

/** As `3 hours ago`, with the exact time to hover; the moment itself once it is more than a week away. `now` is in Unix seconds. */
export function timeAgo(unix: number, { now, language }: { now: number; language: PortalLanguage }) {
  if (Math.abs(unix - now) > WEEK) return formatMoment(unix, language)
  const [unit, seconds] = steps.find(([, length]) => Math.abs(unix - now) >= length) ?? (['second', Infinity] as const)
  const date = new Date(unix * 1000)
  const text = relative(language).format(Math.trunc((unix - now) / seconds), unit)
  return html`<time class="ago" datetime="${date.toISOString()}" title="${exact(language).format(date)}">${text}</time>`
}

/** Says which time zone a page's times are in; the script names the reader's. */
export const timeZoneNote = (language: PortalLanguage) =>
  html`<span data-zone="${componentWords[language].zone}">${componentWords[language].utc}</span>`

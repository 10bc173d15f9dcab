const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

/** One of each kind: to make one takes longer than to format a number. */
const numberFormats = new Map<string, Intl.NumberFormat>()

function formatted(number: number, locale: string, options: Intl.NumberFormatOptions = {}): string {
  const key = [locale, options.style, options.unit].join(' ')
  const format = numberFormats.get(key) ?? new Intl.NumberFormat(locale, { maximumFractionDigits: 1, ...options })
  numberFormats.set(key, format)
  return format.format(number)
}

/** As `1.5 MB`, with steps of 1,000. */
export function bytesText(bytes: number, locale: string): string {
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const unitDisplay = step === 0 ? 'long' : 'short'
  return formatted(bytes / 1000 ** step, locale, { style: 'unit', unit: units[step]!, unitDisplay })
}

/** A share above zero is never shown as 0 %. */
export const percentText = (share: number, locale: string) =>
  formatted(share === 0 ? 0 : Math.max(0.001, share), locale, { style: 'percent' })

export const countText = (count: number, locale: string) => formatted(count, locale)

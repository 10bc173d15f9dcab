const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

/** As `1.5 MB`, with steps of 1,000. */
export function bytesText(bytes: number, locale: string): string {
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const format = {
    style: 'unit',
    unit: units[step]!,
    maximumFractionDigits: 1,
    unitDisplay: step === 0 ? 'long' : 'short',
  } as const
  return new Intl.NumberFormat(locale, format).format(bytes / 1000 ** step)
}

/** A share above zero is never shown as 0 %. */
export const percentText = (share: number, locale: string) =>
  new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }).format(
    share === 0 ? 0 : Math.max(0.001, share),
  )

export const countText = (count: number, locale: string) => new Intl.NumberFormat(locale).format(count)

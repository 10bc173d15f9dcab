/** The languages of the pages. */
export type Language = 'en' | 'de'

const RANGE = /^(?:\*|[a-z]{1,8}(?:-[a-z0-9]{1,8})*)$/i
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i

/** The language ranges of the header with their weights; malformed ones are ignored. */
function ranges(acceptLanguage: string) {
  return acceptLanguage.split(',').flatMap((element) => {
    const [range = '', weight, ...more] = element.split(';').map((part) => part.trim())
    const quality = weight === undefined ? 1 : Number(WEIGHT.exec(weight)?.[1] ?? Number.NaN)
    if (!RANGE.test(range) || Number.isNaN(quality) || more.length > 0) return []
    return [{ language: range.toLowerCase().split('-')[0]!, quality }]
  })
}

/** The best of our languages for an Accept-Language header (RFC 9110, 12.5.4); English by default. */
export function languageOf(acceptLanguage: string | undefined): Language {
  const wanted = ranges(acceptLanguage ?? '')
  const qualityOf = (language: string) => {
    const named = wanted.filter((range) => range.language === language)
    const considered = named.length > 0 ? named : wanted.filter((range) => range.language === '*')
    return Math.max(0, ...considered.map((range) => range.quality))
  }
  const [en, de] = [qualityOf('en'), qualityOf('de')]
  if (en !== de) return de > en ? 'de' : 'en'
  // Of equal weight: the one named first.
  return wanted.find((range) => range.language === 'en' || range.language === 'de')?.language === 'de' && de > 0
    ? 'de'
    : 'en'
}

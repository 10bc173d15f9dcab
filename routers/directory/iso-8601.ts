/**
 * Extended form `2019-03-01T00:00:00.5+01:00` or basic form `20190301T000000+0100`, with T or a space (RFC 3339), and a point or a
 * comma. Seconds and the minutes of the offset may be omitted.
 */
const TIME =
  /^(\d{4})(-?)(\d\d)\2(\d\d)[Tt ](\d\d)(:?)(\d\d)(?:\6(\d\d)(?:[.,](\d+))?)? ?(?:([Zz])|([-+\u2212])(\d\d)(?::?(\d\d))?)$/

/** The same time with all parts, as `z.iso.datetime` reads it. Other text is returned unchanged. */
export function extendedTime(text: string): string {
  const found = TIME.exec(text)
  if (!found) return text
  const [, year, , month, day, hour, , minute, second = '00', fraction, utc, sign, offsetHour, offsetMinute = '00'] =
    found
  const offset = utc ? 'Z' : `${sign === '+' ? '+' : '-'}${offsetHour}:${offsetMinute}`
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction ? `.${fraction}` : ''}${offset}`
}

/** The same of a date: `20190301` is `2019-03-01`. */
export const extendedDate = (text: string) => text.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3')

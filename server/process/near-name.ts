import leven, { closestMatch } from 'leven'

/** The known name that the given one may be a slip of: DATABASE means DATABASE_URL, --expires --expires-in, POTR PORT. */
export const nearName = (given: string, known: readonly string[]): string | undefined =>
  known.find((one) => one.startsWith(`${given}_`) || one.startsWith(`${given}-`)) ??
  closestMatch(given, known, { maxDistance: Math.max(2, Math.floor(given.length / 3)) })

/** From this length on, two letters may differ. */
const LONG = 15

/**
 * The same where most names are of other programs: only for known names of several words, which differ in one letter, in the
 * order of two, or in singular and plural. SMTP_PORT and API_BASE_URL mean nothing here.
 */
export const findSlip = (given: string, known: readonly string[]): string | undefined =>
  known
    .filter((one) => one.includes('_') && Math.abs(one.length - given.length) <= 2)
    .find((one) => singular(given) === singular(one) || isClose(given, one))

const singular = (name: string) => name.replace(/IES(?=_|$)/g, 'Y').replace(/S(?=_|$)/g, '')

function isClose(given: string, known: string): boolean {
  const distance = leven(given, known, { maxDistance: 3 })
  return distance <= 1 || (distance === 2 && (given.length >= LONG || sorted(given) === sorted(known)))
}

const sorted = (text: string) => [...text].sort().join('')

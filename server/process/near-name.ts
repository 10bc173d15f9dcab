import { closestMatch } from 'leven'

/** The known name that the given one may be a slip of: DATABASE means DATABASE_URL, --expires --expires-in, POTR PORT. */
export const nearName = (given: string, known: readonly string[]): string | undefined =>
  known.find((one) => one.startsWith(`${given}_`) || one.startsWith(`${given}-`)) ??
  closestMatch(given, known, { maxDistance: Math.max(2, Math.floor(given.length / 3)) })

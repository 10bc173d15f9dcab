import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { closestMatch } from 'leven'

/** The variables of a file like `.env`; none when it does not exist. Throws when it cannot be read. */
export function readEnvFile(file: string): Record<string, string> {
  try {
    return parseEnv(readFileSync(file, 'utf8')) as Record<string, string>
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return {}
    throw error
  }
}

/** A sentence for each name in the file that is no setting. pg reads its own (PGSSLMODE), which may stand there as well. */
export const unknownNames = (file: string, known: readonly string[]): string[] =>
  Object.keys(readEnvFile(file))
    .filter((name) => !known.includes(name) && !name.startsWith('PG'))
    .map((name) => {
      const meant = meantBy(name.toUpperCase(), known)
      return `${name} in .env is not a setting of this service${meant ? `: is ${meant} meant?` : '.'}`
    })

/** DATABASE means DATABASE_URL, and POTR means PORT. */
const meantBy = (name: string, known: readonly string[]) =>
  known.find((one) => one.startsWith(`${name}_`)) ??
  closestMatch(name, known, { maxDistance: Math.max(2, Math.floor(name.length / 3)) })

import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { nearName } from './near-name.ts'

/** Empty when the file does not exist. Throws when it cannot be read. */
export function readEnvFile(file: string): Record<string, string> {
  try {
    return parseEnv(readFileSync(file, 'utf8')) as Record<string, string>
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return {}
    throw error
  }
}

/** Packages read their own variables, such as PGSSLMODE and OTEL_TRACES_SAMPLER. */
const OF_PACKAGES = /^(?:PG|OTEL_)/

/** A sentence for each name in the file that is no setting of the service or a package. */
export const unknownNames = (file: string, known: readonly string[]): string[] =>
  Object.keys(readEnvFile(file))
    .filter((name) => !known.includes(name) && !OF_PACKAGES.test(name))
    .map((name) => {
      const meant = nearName(name.toUpperCase(), known)
      return `${name} in .env is not a setting of this service${meant ? `: is ${meant} meant?` : '.'}`
    })

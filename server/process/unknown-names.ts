import { findSlip, nearName } from './near-name.ts'

type Texts = Readonly<Record<string, string | undefined>>

/** Packages read their own variables, such as PGSSLMODE and OTEL_TRACES_SAMPLER. */
const OF_PACKAGES = /^(?:PG|OTEL_)/

/** A sentence for each name in the file that is no setting of the service or a package. */
export const unknownInFile = (given: Texts, known: readonly string[]): string[] =>
  Object.keys(given)
    .filter((name) => !known.includes(name) && !OF_PACKAGES.test(name))
    .map((name) => {
      const meant = nearName(name.toUpperCase(), known)
      return `${name} in .env is not a setting of this service${meant ? `: is ${meant} meant?` : '.'}`
    })

/**
 * A sentence for each variable of the environment that is probably a misspelt setting. Other programs have variables there too:
 * only a slip of a setting that is not set counts.
 */
export function misspeltInEnvironment(env: Texts, known: readonly string[]): string[] {
  const unset = known.filter((name) => !env[name])
  return Object.keys(env)
    .filter((name) => env[name] && !known.includes(name) && !OF_PACKAGES.test(name) && !isOfKubernetes(name, env))
    .flatMap((name) => {
      const meant = findSlip(name.toUpperCase(), unset)
      return meant ? [`${name} in the environment is not a setting of this service: is ${meant} meant?`] : []
    })
}

/** For a service `workers` in the same namespace, pods get WORKERS_SERVICE_HOST, WORKERS_PORT, WORKERS_PORT_80_TCP. */
const isOfKubernetes = (name: string, env: Texts) => `${name.replace(/_PORT(?:_.*)?$/, '')}_SERVICE_HOST` in env

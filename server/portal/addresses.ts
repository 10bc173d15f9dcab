import type { Section } from '../../routers/kernel/scopes.ts'
import { toIssuer } from '../browser/addresses.ts'
import type { BaseUrls } from '../http/match-route.ts'

export interface Addresses {
  issuer: string
  /** The base address of each API. */
  bases: BaseUrls
  /** The base of the apps API, for programs. */
  apps: string
  /** Each API's reference, which takes `?client_id=` and values for its forms. */
  references: Record<Section, string>
  /** The error catalogue: `#` and an error's name link to its entry. */
  catalogue: string
}

/** @param localUrls In the trial: npm and Node cannot resolve *.localhost everywhere. */
export const portalAddresses = (authBaseUrl: string, bases: BaseUrls, localUrls?: BaseUrls): Addresses => ({
  issuer: toIssuer(authBaseUrl),
  bases,
  apps: localUrls?.apps ?? bases.apps,
  references: {
    apps: `${bases.apps}/docs`,
    lms: `${bases.lms}/docs`,
    notify: `${bases.notify}/docs`,
    sync: `${bases.sync}/docs`,
  },
  catalogue: `${bases.apps}/docs/errors`,
})

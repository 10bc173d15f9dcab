import type { Section } from '../../routers/kernel/scopes.ts'
import { toIssuer } from '../browser/addresses.ts'
import type { BaseUrls } from '../http/match-route.ts'

export interface Addresses {
  issuer: string
  /** Each API's reference, which takes `?client_id=` and values for its forms. */
  references: Record<Section, string>
  /** The error catalogue: `#` and an error's name link to its entry. */
  catalogue: string
}

export const portalAddresses = (authBaseUrl: string, { apps, lms, notify, sync }: BaseUrls): Addresses => ({
  issuer: toIssuer(authBaseUrl),
  references: { apps: `${apps}/docs`, lms: `${lms}/docs`, notify: `${notify}/docs`, sync: `${sync}/docs` },
  catalogue: `${apps}/docs/errors`,
})

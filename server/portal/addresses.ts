import { issuerOf } from '../browser/addresses.ts'

export interface Addresses {
  issuer: string
  /** The API reference, which takes `?client_id=`. */
  reference: string
  /** The error catalogue: `#` and an error's name link to its entry. */
  catalogue: string
}

export const portalAddresses = (authBaseUrl: string, appsBaseUrl: string): Addresses => ({
  issuer: issuerOf(authBaseUrl),
  reference: `${appsBaseUrl}/docs`,
  catalogue: `${appsBaseUrl}/docs/errors`,
})

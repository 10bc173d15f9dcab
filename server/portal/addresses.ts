import { issuerOf } from '../browser/addresses.ts'

/** Addresses outside of the portal that its pages show. */
export interface Addresses {
  issuer: string
  /** The API reference, which takes `?client_id=`. */
  reference: string
  /** The error catalogue: `#` and the name of an error are an entry. */
  catalogue: string
}

export const portalAddresses = (authBaseUrl: string, appsBaseUrl: string): Addresses => ({
  issuer: issuerOf(authBaseUrl),
  reference: `${appsBaseUrl}/docs`,
  catalogue: `${appsBaseUrl}/docs/errors`,
})

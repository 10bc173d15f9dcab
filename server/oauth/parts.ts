import type { Provider } from 'oidc-provider'
import type { Database } from '../../prisma/client.ts'

/** What the pages work with. */
export interface OauthParts {
  db: Database
  now: () => number
  provider: () => Provider
  /** Of the issuer: all of it is below. */
  path: string
}

import type { Provider } from 'oidc-provider'
import type { Database } from '../../prisma/client.ts'

/** What the pages beside oidc-provider need. */
export interface PageOptions {
  db: Database
  now: () => number
  provider: () => Provider
  /** The path of the issuer, without a slash at its end. */
  path: string
}

import type { Provider } from 'oidc-provider'
import type { Database } from '../../prisma/client.ts'
import type { PageRoutes } from '../browser/page-routes.ts'

/** For pages that oidc-provider does not serve. */
export interface PageOptions {
  db: Database
  now: () => number
  provider: () => Provider
  pages: PageRoutes
}

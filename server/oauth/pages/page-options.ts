import type { Provider } from 'oidc-provider'
import type { Database } from '../../../prisma/client.ts'
import type { ConsentAges } from '../../../routers/kernel/consent-ages.ts'
import type { DueWatch } from '../../../routers/kernel/due-watch.ts'
import type { PageRoutes } from '../../browser/page-routes.ts'
import type { Limits } from '../../limits/limit.ts'
import type { Realm } from '../engine/realm.ts'
import type { OwnCardCodes } from '../keys/card-codes.ts'

export interface PageOptions {
  db: Database
  now: () => number
  realm: Realm
  provider: () => Provider
  pages: PageRoutes
  limits: Limits
  authBaseUrl: string
  cards: OwnCardCodes
  /** Woken when a consent has ended. */
  due: DueWatch
  /** Clubs approve apps before their members can allow them. */
  clubApproval: boolean
  /** Members get a mail when an app or a device gets access. */
  memberMails: boolean
  /** Younger members need the approval of a guardian. */
  consentAges: ConsentAges | null
}

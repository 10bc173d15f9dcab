import type { Provider } from 'oidc-provider'
import type { Database } from '../../../prisma/client.ts'
import type { ConsentAges } from '../../../routers/kernel/consent-ages.ts'
import type { DueWatch } from '../../../routers/kernel/due-watch.ts'
import type { PageRoutes } from '../../browser/page-routes.ts'
import type { Limits } from '../../limits/limit.ts'
import type { Realm } from '../engine/realm.ts'
import type { OwnCardCodes } from '../keys/card-codes.ts'

/** What the operator has set for the consents of members. */
export interface ConsentRules {
  /** Clubs approve apps before their members can allow them. */
  clubApproval: boolean
  /** MEMBER_MAILS, where there is a mail server: members get a mail when an app or a device gets access. */
  memberMails: boolean
  /** Younger members need the approval of a guardian; null: none does. */
  consentAges: ConsentAges | null
}

export interface PageOptions extends ConsentRules {
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
}

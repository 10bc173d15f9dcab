import { router } from '../trpc.ts'
import { apps } from './apps.ts'
import { audit } from './audit.ts'
import { clients } from './clients.ts'
import { deliveries } from './deliveries.ts'
import { invitations } from './invitations-received.ts'
import { people } from './people.ts'
import { requests } from './requests.ts'
import { teams } from './teams.ts'
import { usage } from './usage.ts'
import { webhook } from './webhook.ts'

/** What people do with the apps of their own teams: the developer portal shows it, and first-party tools call it. */
export const developer = router({
  teams,
  invitations,
  people,
  apps,
  clients,
  audit,
  requests,
  usage,
  webhook,
  deliveries,
})

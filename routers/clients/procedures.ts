import { router } from '../kernel/trpc.ts'
import { apps } from './apps.ts'
import { audit } from './audit.ts'
import { create } from './client-create.ts'
import { remove } from './client-remove.ts'
import { requestProduction } from './client-request.ts'
import { update } from './client-update.ts'
import { rules } from './collection-rules.ts'
import { data } from './data/data.ts'
import { mails } from './mails/settings.ts'
import { requests } from './requests.ts'
import { setAuthentication } from './secrets/authentication.ts'
import { secrets } from './secrets/secrets.ts'
import { invitations } from './teams/invitations-received.ts'
import { people } from './teams/people.ts'
import { getClient, listClients } from './teams/team-clients.ts'
import { teams } from './teams/teams.ts'
import { holdings as testClubHoldings } from './test-club/holdings.ts'
import { get as getTestClub } from './test-club/overview.ts'
import { reset } from './test-club/reset.ts'
import { review } from './test-club/review.ts'
import { usage } from './usage.ts'
import { deliveries } from './webhook/deliveries.ts'
import { webhook } from './webhook/webhook.ts'

export const developer = router({
  teams,
  invitations,
  mails,
  people,
  apps,
  clients: router({
    ...{ list: listClients, get: getClient, create, update, remove, requestProduction },
    ...{ setAuthentication, secrets },
  }),
  testClub: router({ get: getTestClub, holdings: testClubHoldings, reset, review }),
  audit,
  requests,
  usage,
  data,
  rules,
  webhook,
  deliveries,
})

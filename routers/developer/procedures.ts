import { router } from '../kernel/trpc.ts'
import { requests } from './activity/requests.ts'
import { usage } from './activity/usage.ts'
import { addresses } from './addresses/procedures.ts'
import { apps } from './apps/procedures.ts'
import { audit } from './audit/procedures.ts'
import { create } from './clients/create.ts'
import { getClient, listClients } from './clients/list.ts'
import { remove } from './clients/remove.ts'
import { requestProduction } from './clients/request.ts'
import { update } from './clients/update.ts'
import { withdrawRequest } from './clients/withdraw.ts'
import { rules } from './data/collection-rules.ts'
import { data } from './data/procedures.ts'
import { mails } from './mails/procedures.ts'
import { setAuthentication } from './secrets/authentication.ts'
import { secrets } from './secrets/procedures.ts'
import { invitations } from './teams/invitations-received.ts'
import { people } from './teams/people.ts'
import { teams } from './teams/procedures.ts'
import { change } from './test-club/change.ts'
import { impact as testClubImpact } from './test-club/impact.ts'
import { get as getTestClub } from './test-club/overview.ts'
import { reset } from './test-club/reset.ts'
import { review } from './test-club/review.ts'
import { withdraw } from './test-club/withdraw.ts'
import { deliveries } from './webhook/deliveries.ts'
import { webhook } from './webhook/procedures.ts'

export const developer = router({
  teams,
  invitations,
  mails,
  people,
  apps,
  clients: router({
    list: listClients,
    get: getClient,
    create,
    update,
    remove,
    requestProduction,
    withdrawRequest,
    setAuthentication,
    secrets,
  }),
  testClub: router({ get: getTestClub, impact: testClubImpact, reset, change, withdraw, review }),
  audit,
  requests,
  usage,
  data,
  rules,
  webhook,
  addresses,
  deliveries,
})

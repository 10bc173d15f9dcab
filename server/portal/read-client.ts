import { errors } from '../../routers/kernel/errors.ts'
import type { PageRequest } from './page-request.ts'
import { readTeam } from './teams.ts'

/**
 * The client in the address, with its team and app. Throws 404 for another team's client. Without `members`, these are not counted:
 * of a client with a million consents, that takes seconds.
 */
export async function readClient(request: PageRequest, { members = false } = {}) {
  const team = await readTeam(request)
  const client = await request.developer.clients.get({ client: request.params.client!, members })
  if (client.team !== team.id) throw errors.addressUnknown()
  const app = client.app === null ? undefined : await request.developer.apps.get({ app: client.app })
  return { team, client, app }
}

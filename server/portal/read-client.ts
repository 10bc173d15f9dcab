import { errors } from '../../routers/kernel/errors.ts'
import type { PageRequest } from './page-request.ts'
import { readTeam } from './teams.ts'

/** The client in the address, with its team and app. Throws 404 for another team's client. */
export async function readClient(request: PageRequest) {
  const team = await readTeam(request)
  const client = await request.developer.clients.get({ client: request.params.client! })
  if (client.team !== team.id) throw errors.addressUnknown()
  const app = client.app === null ? undefined : await request.developer.apps.get({ app: client.app })
  return { team, client, app }
}

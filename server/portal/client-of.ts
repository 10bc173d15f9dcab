import { errors } from '../../routers/kernel/errors.ts'
import { teamOf } from './teams.ts'
import type { Visit } from './visit.ts'

/** The client in the address, with its team and app. Throws 404 for another team's client. */
export async function clientOf(visit: Visit) {
  const team = await teamOf(visit)
  const client = await visit.developer.clients.get({ client: visit.params.client! })
  if (client.team !== team.id) throw errors.addressUnknown()
  const app = client.app === null ? undefined : await visit.developer.apps.get({ app: client.app })
  return { team, client, app }
}

import type { Addresses } from './addresses.ts'
import type { Render, Routes } from './page-request.ts'
import { firstCallPage, missingFor, prepareForm } from './pages/first-call.ts'
import { readClient } from './read-client.ts'

/** The commands from a new client to the first call. */
export function firstCallPages({ get, post }: Routes, addresses: Addresses) {
  const own = '/teams/:team/clients/:client/start'
  const page: Render = async (request) => firstCallPage(request, await readClient(request), addresses)
  get(own, page)
  post(own, page, prepareForm, async (request) => {
    const { team, client } = await readClient(request)
    const { redirectUris, scopes } = missingFor(client)
    await request.developer.clients.update({
      client: client.id,
      version: client.version,
      redirectUris: [...client.redirectUris, ...redirectUris],
      scopes: [...client.scopes, ...scopes],
    })
    return `${request.at('teams', team.id, 'clients', client.id, 'start')}?done=saved`
  })
}

import { errors } from '../../routers/kernel/errors.ts'
import type { PageRequest, Render, Routes } from './page-request.ts'
import {
  authenticationForm,
  newSecretPage,
  secretForm,
  secretRemovalForm,
  secretRemovalPage,
} from './pages/client-secrets.ts'
import { readClient } from './read-client.ts'

const credentialsUrl = ({ at, params }: PageRequest) =>
  at('teams', params.team!, 'clients', params.client!, 'credentials')

/** Throws 404 for another client's secret. */
async function readSecret(request: PageRequest) {
  const view = await readClient(request)
  const secret = view.client.secrets.find(({ id }) => id === request.params.secret)
  if (!secret) throw errors.clientSecretUnknown()
  return { ...view, secret }
}

/** @param page The page of the client's credentials. */
export function clientAuthenticationPages({ get, post }: Routes, page: Render, now: () => number) {
  const removal: Render = async (request) => {
    const { secret, ...view } = await readSecret(request)
    return secretRemovalPage(request, view, { secret, now: now() })
  }
  const own = '/teams/:team/clients/:client/credentials'
  post(own, page, authenticationForm, async (request, { keys, ...fields }) => {
    const { client } = await readClient(request)
    await request.developer.clients.setAuthentication({ client: client.id, ...fields, ...(keys?.trim() && { keys }) })
    return `${credentialsUrl(request)}?done=saved`
  })
  post(own, page, secretForm, async (request, fields) => {
    const view = await readClient(request)
    const created = await request.developer.clients.secrets.create({ client: view.client.id, ...fields })
    return { page: newSecretPage(request, view, created) }
  })
  get(`${own}/secrets/:secret/remove`, removal)
  post(`${own}/secrets/:secret/remove`, removal, secretRemovalForm, async (request) => {
    const { client, secret } = await readSecret(request)
    await request.developer.clients.secrets.remove({ client: client.id, secret: secret.id })
    return `${credentialsUrl(request)}?done=removed`
  })
}

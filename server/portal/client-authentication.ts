import { ApiError, errors } from '../../routers/kernel/errors.ts'
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

/** The secret is shown once: after a conflict too, as its client then says that it is not used. */
function ignoreConflict(error: unknown) {
  if (!(error instanceof ApiError) || error.status !== 409) throw error
}

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
  post(own, page, secretForm, async (request, { days, use }) => {
    const view = await readClient(request)
    const { id: client, authentication, version } = view.client
    const { secret } = await request.developer.clients.secrets.create({ client, days })
    if (use && authentication === 'none') {
      await request.developer.clients
        .setAuthentication({ client, version, authentication: 'client_secret' })
        .catch(ignoreConflict)
    }
    return { page: newSecretPage(request, view, secret) }
  })
  get(`${own}/secrets/:secret/remove`, removal)
  post(`${own}/secrets/:secret/remove`, removal, secretRemovalForm, async (request) => {
    const { client, secret } = await readSecret(request)
    await request.developer.clients.secrets.remove({ client: client.id, secret: secret.id })
    return `${credentialsUrl(request)}?done=removed`
  })
}

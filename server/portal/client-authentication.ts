import { ClientAuthentication } from '../../prisma/generated/enums.ts'
import { LIVES } from '../../routers/developer/secrets/procedures.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { clientOf } from './client-of.ts'
import { versionOf } from './form-values.ts'
import { newSecretPage, secretRemovalPage } from './pages/client-secrets.ts'
import type { Routes, Show, Visit } from './visit.ts'

const addressOf = ({ at, params }: Visit) => at('teams', params.team!, 'clients', params.client!)

/** Throws 404 for another client's secret. */
async function secretOf(visit: Visit) {
  const view = await clientOf(visit)
  const secret = view.client.secrets.find(({ id }) => id === visit.params.secret)
  if (!secret) throw errors.clientSecretUnknown()
  return { ...view, secret }
}

/** @param page The page of the client. */
export function clientAuthenticationPages({ get, post }: Routes, page: Show, now: () => number) {
  const removal: Show = async (visit) => {
    const { secret, ...view } = await secretOf(visit)
    return secretRemovalPage(visit, view, { secret, now: now() })
  }
  const own = '/teams/:team/clients/:client'
  post(`${own}/authentication`, page, async (visit, form) => {
    const { client } = await clientOf(visit)
    const authentication = Object.values(ClientAuthentication).find((one) => one === form.get('authentication'))
    if (!authentication) throw errors.requestInvalid()
    const keys = (form.get('keys') ?? '').trim()
    await visit.developer.clients.setAuthentication({
      client: client.id,
      version: versionOf(form),
      authentication,
      ...(keys !== '' && { keys }),
    })
    return `${addressOf(visit)}?done=saved`
  })
  post(`${own}/create-secret`, page, async (visit, form) => {
    const view = await clientOf(visit)
    const days = LIVES.find((one) => String(one) === form.get('days'))
    if (!days) throw errors.requestInvalid()
    const { secret } = await visit.developer.clients.secrets.create({ client: view.client.id, days })
    return { page: newSecretPage(visit, view, secret) }
  })
  get(`${own}/secrets/:secret/remove`, removal)
  post(`${own}/secrets/:secret/remove/confirm`, removal, async (visit) => {
    const { client, secret } = await secretOf(visit)
    await visit.developer.clients.secrets.remove({ client: client.id, secret: secret.id })
    return `${addressOf(visit)}?done=removed`
  })
}

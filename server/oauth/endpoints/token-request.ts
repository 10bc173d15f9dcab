import type { IncomingHttpHeaders } from 'node:http'
import type { Client } from 'oidc-provider'
import { basicOf } from './basic-header.ts'

/**
 * A public client has no secret, but some libraries send its id in the header all the same, with an empty one. Moves it into the
 * form, and returns whether it has.
 */
export async function namePublicClient(
  headers: IncomingHttpHeaders,
  form: URLSearchParams,
  clientOf: (id: string) => Promise<Client | undefined>,
): Promise<boolean> {
  const { id, secret } = basicOf(headers.authorization) ?? {}
  if (!id || secret !== '') return false
  // oidc-provider refuses two clients.
  if (form.getAll('client_id').some((one) => one !== '' && one !== id)) return false
  if ((await clientOf(id))?.clientAuthMethod !== 'none') return false
  delete headers.authorization
  form.set('client_id', id)
  return true
}

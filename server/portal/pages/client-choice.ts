import { select } from '../../browser/look/components/field.ts'
import type { PageRequest } from '../page-request.ts'
import type { ClientSummary } from './team-page.ts'

/** Clients offered by a filter. */
export const CLIENTS_OFFERED = 50

/** A filter by client: the given ones, and the one in the address, to which a client's page links. */
export function clientChoice({ w, query }: Pick<PageRequest, 'w' | 'query'>, clients: readonly ClientSummary[]) {
  const chosen = query.get('client') ?? ''
  const offered = clients.map(({ id, name }) => [id, name] as const)
  const isOffered = chosen === '' || clients.some(({ id }) => id === chosen)
  return select({ id: 'client', name: 'client', label: w.client, value: chosen }, [
    ['', w.all],
    ...offered,
    ...(isOffered ? [] : [[chosen, chosen] as const]),
  ])
}

import type { Visit } from '../visit.ts'
import { choice } from './fields.ts'
import type { ClientSummary } from './team-page.ts'

/** A filter by client: those given, and the one of the address, to which the page of a client leads. */
export function clientChoice({ w, query }: Pick<Visit, 'w' | 'query'>, clients: readonly ClientSummary[]) {
  const chosen = query.get('client') ?? ''
  const offered = clients.map(({ id, name }) => [id, name] as const)
  const isOffered = chosen === '' || clients.some(({ id }) => id === chosen)
  return choice({ id: 'client', name: 'client', label: w.client, value: chosen }, [
    ['', w.allOf],
    ...offered,
    ...(isOffered ? [] : [[chosen, chosen] as const]),
  ])
}

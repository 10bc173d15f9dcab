const MAX_QUERY = 4_096

export const QUERY_TOO_LONG = 'the query is longer than 4 KB'

/**
 * A query of an app's request; null above 4 KB. It counts as URLSearchParams writes it, as pages repeat it in this form: a request
 * that passes at first still passes after its member has signed in.
 */
export function parseQuery(search: string): URLSearchParams | null {
  if (search.length > MAX_QUERY) return null
  const query = new URLSearchParams(search)
  return String(query).length > MAX_QUERY ? null : query
}

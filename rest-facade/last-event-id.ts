import type { IncomingHttpHeaders } from 'node:http'

/**
 * Where a client resumes its server-sent events, '' for nowhere. An EventSource that cannot send `Last-Event-ID` has it in the query:
 * event-source-polyfill as `lastEventId`, tRPC's adapter reads both names.
 */
export function readLastEventId(headers: IncomingHttpHeaders, search: string): string {
  const query = new URLSearchParams(search)
  return String(headers['last-event-id'] ?? query.get('lastEventId') ?? query.get('Last-Event-Id') ?? '')
}

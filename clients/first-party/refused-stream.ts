const TOO_MANY_REQUESTS = 429

/**
 * The events of a stream. A refusal becomes an event as well, as tRPC's link reads nothing else: it would lose the error, and end
 * while the service is unavailable. After 429 the stream is opened again. The answer is one of `readable`.
 */
export async function toEventStream(response: Response): Promise<Response> {
  if (response.ok) return response
  const { error } = (await response.json()) as { error: object }
  const refusal = `event: serialized-error\ndata: ${JSON.stringify(error)}\n\n`
  const events = response.status === TOO_MANY_REQUESTS ? '' : refusal
  return new Response(events, { headers: { 'content-type': 'text/event-stream' } })
}

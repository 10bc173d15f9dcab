/**
 * Like `send`, but with a tRPC error in place of any other answer, as of a proxy: tRPC's links lose the status and headers of
 * what they cannot read.
 */
export const readable = (send: typeof fetch) => async (address: URL | string | Request, init?: object) => {
  const response = await send(address, init)
  const read = () => Response.prototype.json.call(response).catch(() => undefined)
  return Object.assign(response, { json: async () => toAnswer(await read(), response.status) })
}

function toAnswer(parsed: unknown, status: number) {
  if ([parsed].flat().every(isAnswer)) return parsed
  const message = `The answer is ${status}, and not one of tRPC.`
  const data = { httpStatus: status, error: status < 500 ? 'invalid_request' : 'unavailable' }
  // tRPC's codes for a bad request and for an error of the service: after the latter, streams are opened again.
  return { error: { code: status < 500 ? -32600 : -32603, message, data } }
}

function isAnswer(given: unknown): boolean {
  const { result, error } = Object(given)
  return result !== undefined || typeof error?.code === 'number'
}

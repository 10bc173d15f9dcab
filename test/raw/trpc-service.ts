import { expect } from 'vitest'
import type { RawService, Sent } from './raw-service.ts'
import { startRawService } from './raw-service.ts'
import type { Answer } from './socket.ts'

/** The input of `storage.put`. */
export const put = (value: string, more = '') => `{"collection":"c","key":"k"${more},"value":${value}}`

const codes: Record<number, [code: string, error: string]> = {
  400: ['BAD_REQUEST', 'invalid_request'],
  401: ['UNAUTHORIZED', 'invalid_token'],
  404: ['NOT_FOUND', 'not_found'],
  405: ['METHOD_NOT_SUPPORTED', 'method_not_allowed'],
  412: ['PRECONDITION_FAILED', 'precondition_failed'],
  413: ['PAYLOAD_TOO_LARGE', 'invalid_request'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'invalid_request'],
  422: ['UNPROCESSABLE_CONTENT', 'invalid_request'],
}

/** A tRPC error. `path` is missing when the call was refused before it was parsed. */
export const shape = (status: number, message: unknown, path?: string) => {
  const [code, error] = codes[status]!
  const data = { code, httpStatus: status, ...(path !== undefined && { path }), error }
  return { error: { message, code: expect.any(Number), data } }
}

export function expectBody({ status, headers, text }: Answer, expected: number, body: unknown) {
  expect({ status, body: JSON.parse(text) }).toEqual({ status: expected, body })
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
}

/** Starts a service with one stored entry, to whose internal port tests send bytes. */
export async function startTrpcService() {
  const service: RawService = await startRawService()
  const call = (line: string, sent: Sent = {}) => {
    const bytes = service.request(line, { host: 'localhost', ...sent })
    return service.answerTo(bytes, line.split(' ')[0], service.world.internalPort)
  }
  expect((await call('POST /trpc/storage.put', { body: put('"stored"') })).status).toBe(200)
  return {
    ...service,
    call,
    /** Expects exactly this refusal and no change. */
    async expectCallRefused(line: string, sent: Sent, status: number, message: unknown, path?: string) {
      const before = await service.state()
      expectBody(await call(line, sent), status, shape(status, message, path))
      expect(await service.state()).toEqual(before)
    },
  }
}

import { expect } from 'vitest'
import type { Reply } from './request.ts'

/** Expects a complete error response of lms or notify: status, body with the request id, content type. */
export function expectRefusal(
  { status, headers, body }: Reply,
  wanted: number,
  code: string,
  message: string,
  reason?: string,
) {
  const request_id = headers['x-request-id']
  expect({ status, body }).toEqual({
    status: wanted,
    body: { error: { code, message, request_id, ...(reason !== undefined && { reason }) } },
  })
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
}

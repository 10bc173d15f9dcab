/** The documented code of each status, and tRPC's. */
export const codes = {
  400: ['invalid_request', 'BAD_REQUEST'],
  401: ['invalid_token', 'UNAUTHORIZED'],
  403: ['missing_scope', 'FORBIDDEN'],
  404: ['not_found', 'NOT_FOUND'],
  405: ['method_not_allowed', 'METHOD_NOT_SUPPORTED'],
  408: ['invalid_request', 'TIMEOUT'],
  409: ['conflict', 'CONFLICT'],
  410: ['cursor_expired', 'PRECONDITION_FAILED'],
  412: ['precondition_failed', 'PRECONDITION_FAILED'],
  413: ['invalid_request', 'PAYLOAD_TOO_LARGE'],
  415: ['invalid_request', 'UNSUPPORTED_MEDIA_TYPE'],
  422: ['invalid_request', 'UNPROCESSABLE_CONTENT'],
  429: ['rate_limited', 'TOO_MANY_REQUESTS'],
  500: ['internal_error', 'INTERNAL_SERVER_ERROR'],
  503: ['unavailable', 'SERVICE_UNAVAILABLE'],
} as const

export type Status = keyof typeof codes

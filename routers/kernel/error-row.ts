import type { Section } from './scopes.ts'

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

/** Where an error is met. Its body has the form of that API. */
export type Place =
  | 'every API'
  | Section
  | 'apps and sync'
  | 'apps, sync and lms'
  | 'lms and sync'
  | 'notify and sync'
  | 'lms, notify and sync'
  | 'sync and tRPC'
  | 'tRPC'

/** `index` is the record's position in `items`. */
export interface RefusedRecord {
  index: number
  field: string
  reason: string
}

/** A field of the input that breaks a rule; `values` are the parameters of the rule's sentence. */
export interface FieldFault {
  field: string
  rule: string
  values: readonly string[]
}

/** What an error has beside its status and message. */
export interface Details {
  /** In place of the status's. */
  code?: string
  reason?: string
  faults?: readonly FieldFault[]
  refused?: readonly RefusedRecord[]
  headers?: Record<string, string>
  cause?: unknown
}

/** Why a client gets an error, and what to do. */
interface Remedy {
  place: Place
  cause: string
  fix: string
}

export interface FixedRow extends Remedy, Omit<Details, 'cause'> {
  status: Status
  message: string
}

interface Made extends Details {
  /** In place of the row's. */
  status?: Status
  message: string
}

/** An error whose message has parameters; `example` are some. */
export interface ParameterRow<Given extends unknown[]> extends Remedy {
  status: Status
  make: (...given: Given) => Made
  example: Given
}

// biome-ignore lint/suspicious/noExplicitAny: of any parameters
export type Row = FixedRow | ParameterRow<any>
export type Rows = Record<string, Row>

export const withParameters = <Given extends unknown[]>(row: ParameterRow<Given>) => row

export const challenge = (...fields: string[]) => ({ 'WWW-Authenticate': `Bearer ${fields.join(', ')}` })

import { TRPCError } from '@trpc/server'

/** Status to the public code of an error, and to tRPC's own. */
const codes = {
  400: ['invalid_request', 'BAD_REQUEST'],
  401: ['invalid_token', 'UNAUTHORIZED'],
  403: ['missing_scope', 'FORBIDDEN'],
  404: ['not_found', 'NOT_FOUND'],
  405: ['method_not_allowed', 'METHOD_NOT_SUPPORTED'],
  409: ['conflict', 'CONFLICT'],
  412: ['precondition_failed', 'PRECONDITION_FAILED'],
  413: ['invalid_request', 'PAYLOAD_TOO_LARGE'],
  415: ['invalid_request', 'UNSUPPORTED_MEDIA_TYPE'],
  422: ['invalid_request', 'UNPROCESSABLE_CONTENT'],
  429: ['rate_limited', 'TOO_MANY_REQUESTS'],
  500: ['internal_error', 'INTERNAL_SERVER_ERROR'],
  503: ['unavailable', 'SERVICE_UNAVAILABLE'],
} as const

export type Status = keyof typeof codes

/** tRPC's code to status; an unknown one is our fault. */
const statusOf = new Map<string, Status>(
  Object.entries(codes).map(([status, [, code]]) => [code, Number(status) as Status]),
)

/** What an error carries beside its status and its sentence. */
interface More {
  reason?: string
  headers?: Record<string, string>
  cause?: unknown
}

/**
 * The one error that leaves the service. `publicCode` is the documented code (`code` is tRPC's own), `reason` tells one
 * conflict from another, `headers` go out with the answer, `cause` is for the log alone.
 * Its name stays `TRPCError`: tRPC and trpc-to-openapi look at the name, and pass it through untouched.
 */
export class ApiError extends TRPCError {
  readonly status: Status
  readonly publicCode: string
  readonly reason: string | undefined
  readonly headers: Record<string, string>

  constructor(status: Status, message: string, { reason, headers = {}, cause }: More = {}) {
    super({ code: codes[status][1], message, cause })
    this.status = status
    this.publicCode = codes[status][0]
    this.reason = reason
    this.headers = headers
  }
}

/** An error of tRPC's own, about a call that reached no procedure, in our terms. */
export const protocolError = ({ code, message }: TRPCError) =>
  new ApiError(code === 'PARSE_ERROR' ? 400 : (statusOf.get(code) ?? 500), message.slice(0, 200))

const row = (status: Status, message: string, more?: More) => () => new ApiError(status, message, more)
const conflict = (reason: string, message: string) => row(409, message, { reason })
const challenge = (...fields: string[]) => ({ headers: { 'WWW-Authenticate': `Bearer ${fields.join(', ')}` } })
const badToken = (message: string) =>
  row(401, message, challenge('error="invalid_token"', `error_description="${message}"`))

/** Every error a client can meet: the error tables of the documents, and what the decisions add, one line a row. */
export const errors = {
  valueMissing: row(400, 'value is missing.'),
  valueNotAlone: row(400, 'The body has exactly one field, value.'),
  valueTooDeep: row(400, 'value is nested too deeply.'),
  valueNotJson: row(400, 'value holds something that JSON cannot.'),
  bodyNotJson: row(400, 'The body is not valid JSON.'),
  bodyNotObject: row(400, 'The body is not a JSON object.'),
  bodyTooDeep: row(400, 'The body is nested too deeply.'),
  bodyTooLarge: row(400, 'The body is larger than 1 MiB.'),
  bodyCutOff: row(400, 'The body ended early.'),
  requestInvalid: row(400, 'The request is not valid HTTP.'),
  rangeTooLong: row(400, 'Send start and end as a range of at most a the service.'),
  answersInvalid: row(400, 'answers is an object that maps question ids to answers.'),
  questionUnknown: row(400, 'answers names a question that this quiz does not have.'),
  answerMisfit: row(400, 'An answer does not fit the type of its question.'),
  gradesInvalid: row(400, 'grades has one boolean for each open question of the result, and no others.'),
  idempotencyKeyInvalid: row(400, 'Idempotency-Key is 1 to 255 visible ASCII characters.'),
  urlInvalid: row(400, 'url is an https:// address of at most 2048 characters, without user info.'),
  secretInvalid: row(400, 'secret is 1 to 1024 visible ASCII characters, without spaces.'),
  subscriberInvalid: row(400, 'subscriber is 1 to 255 characters without control characters.'),
  eventTypeInvalid: row(400, "type is 1 to 128 letters, digits, '.', '_' or '-'."),
  eventIdInvalid: row(400, 'id is 1 to 255 visible ASCII characters.'),
  dataMissing: row(400, 'data is missing.'),
  dataNotJson: row(400, 'data holds something that JSON cannot.'),
  dataTooDeep: row(400, 'data is nested too deeply.'),
  eventTooLarge: row(400, 'The event is larger than 256 KiB.'),

  tokenMissing: row(401, 'This token is not valid.', challenge('realm="member-apps"')),
  tokenInvalid: badToken('This token is not valid.'),
  tokenExpired: badToken('This token has expired.'),

  scopeMissing: (scope: string) =>
    new ApiError(
      403,
      `This token does not carry the ${scope} scope.`,
      challenge('error="insufficient_scope"', `scope="${scope}"`),
    ),
  levelTooLow: row(403, 'The Developer membership is needed for this API.'),
  clientNotFirstParty: row(403, 'This client does not belong to the platform.'),
  clientNotApp: (brand: string) => new ApiError(403, `This client is not a ${brand} app.`),

  memberUnknown: (organisation: 'club' | 'academy' | 'provider') =>
    new ApiError(404, `This member does not exist in this ${organisation}.`),
  keyUnknown: row(404, 'This key does not exist.'),
  quizUnknown: row(404, 'This quiz does not exist in this academy.'),
  resultUnknown: row(404, 'This result does not exist in this academy.'),
  appUnknown: row(404, 'This app does not exist at this provider.'),
  subscriptionUnknown: row(404, 'This subscription does not exist at this provider.'),
  deliveryUnknown: row(404, 'This delivery does not exist at this provider.'),
  hostWrong: (host: string) => new ApiError(404, `This API answers at ${host}.`),
  addressUnknown: row(404, 'There is nothing at this address.'),
  methodWrong: (allow: string) => new ApiError(405, `Use ${allow} here.`, { headers: { Allow: allow } }),

  quizClosed: conflict('quiz_closed', 'This quiz is closed.'),
  quizEmpty: conflict('quiz_empty', 'This quiz has no questions.'),
  attemptsExhausted: conflict('attempts_exhausted', 'All attempts at this quiz are used up.'),
  idempotencyMismatch: conflict('idempotency_mismatch', 'This Idempotency-Key came with another body before.'),
  alreadyReviewed: conflict('already_reviewed', 'This result is not waiting for a review.'),
  appSuspended: conflict('app_suspended', 'This app is suspended.'),
  alreadyDelivered: conflict('already_delivered', 'This delivery has arrived already.'),
  subscriptionEnded: conflict('subscription_ended', 'The subscription of this delivery has ended.'),

  entryChanged: row(412, 'This entry has changed.'),
  quotaExceeded: row(413, 'App storage quota exceeded.'),
  typeWrong: row(415, 'Send the body as application/json.'),

  scopeInvalid: row(422, 'scope is org or user.'),
  nameInvalid: row(422, "Names use 1 to 64 letters, digits, '_' or '-'."),
  limitInvalid: row(422, 'limit is 1 to 200.'),
  offsetInvalid: row(422, 'offset is 0 or more.'),
  timeInvalid: row(422, 'start and end are Unix seconds.'),
  /** An input without a row of its own: reads answer 422, writes 400, as document B has it. */
  inputInvalid: (status: 400 | 422, message: string) => new ApiError(status, message),

  rateLimited: (retryAfterSeconds: number) =>
    new ApiError(429, `The request quota is exhausted. Try again in ${retryAfterSeconds} s.`, {
      headers: { 'Retry-After': String(retryAfterSeconds) },
    }),
  internal: (cause: unknown) => new ApiError(500, 'Something went wrong on our side.', { cause }),
  unavailable: (cause?: unknown) =>
    new ApiError(503, 'This service is not available right now.', { cause, headers: { 'Retry-After': '2' } }),
}

/** The rows without a blank: those that a schema may name. */
export type PlainError = {
  [K in keyof typeof errors]: Parameters<(typeof errors)[K]> extends [] ? K : never
}[keyof typeof errors]

/** What a zod check says when it fails: the row of the catalogue that the client is to meet. */
export const withError = (name: PlainError) => ({ error: name as string })

import { TRPCError } from '@trpc/server'

const codes = {
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

const statusOf = new Map<string, Status>(
  Object.entries(codes).map(([status, [, code]]) => [code, Number(status) as Status]),
)

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

interface Details {
  /** In place of the status's. */
  code?: string
  reason?: string
  faults?: readonly FieldFault[]
  refused?: readonly RefusedRecord[]
  headers?: Record<string, string>
  cause?: unknown
}

/**
 * The only error that leaves the service. `publicCode` is the documented code (`code` is tRPC's), `reason` tells conflicts
 * apart, `refused` names the records of a call that are at fault, `faults` the fields, `headers` are set on the response, `cause` goes to the log alone.
 */
export class ApiError extends TRPCError {
  /** The name of its row in `errors`; '' for other errors. */
  id = ''
  /** The message has no parameters. */
  isFixed = false
  /** The field of the input that its schema refuses. */
  field: string | undefined
  /** The client of an expired but otherwise valid token, for its request log. */
  client: string | undefined
  readonly status: Status
  readonly publicCode: string
  readonly reason: string | undefined
  readonly refused: readonly RefusedRecord[] | undefined
  readonly faults: readonly FieldFault[]
  readonly headers: Record<string, string>

  constructor(
    status: Status,
    message: string,
    { code, reason, refused, faults = [], headers = {}, cause }: Details = {},
  ) {
    super({ code: codes[status][1], message, cause })
    this.status = status
    this.publicCode = code ?? codes[status][0]
    this.reason = reason
    this.refused = refused
    this.faults = faults
    this.headers = headers
  }
}

/** Translates tRPC's error for a call that reached no procedure. */
export const protocolError = ({ code, message }: TRPCError) =>
  new ApiError(code === 'PARSE_ERROR' ? 400 : (statusOf.get(code) ?? 500), message.slice(0, 200))

const row = (status: Status, message: string, details?: Details) => () => new ApiError(status, message, details)
const conflict = (reason: string, message: string) => row(409, message, { reason })
const challenge = (...fields: string[]) => ({ headers: { 'WWW-Authenticate': `Bearer ${fields.join(', ')}` } })
const badToken = (message: string) =>
  row(401, message, challenge('error="invalid_token"', `error_description="${message}"`))

/** Sets each error's id to the name of its row. */
function named<T extends Record<string, (...given: never[]) => ApiError>>(rows: T): T {
  const make = ([id, row]: [string, T[string]]) => [
    id,
    (...given: never[]) => Object.assign(row(...given), { id, isFixed: row.length === 0 }),
  ]
  return Object.fromEntries(Object.entries(rows).map((entry) => make(entry as [string, T[string]]))) as T
}

/** Every error that a client can get, from the documents and the decisions. */
export const errors = named({
  cursorInvalid: row(400, 'since is not a cursor of this collection.'),
  operationsInvalid: row(400, 'operations is a list of 1 to 25 operations.'),
  operationsNotAlone: row(400, 'The body has exactly one field, operations.'),
  operationInvalid: row(
    400,
    'An operation has op, collection and key, and may have scope, value, ifMatch and ifNoneMatch, each once.',
  ),
  opInvalid: row(400, 'op is put, delete or get.'),
  valueUnexpected: row(400, 'Only put has a value.'),
  eventCursorInvalid: row(400, "since is not a cursor of this app's events."),
  valueMissing: row(400, 'value is missing.'),
  valueNotAlone: row(400, 'The body has exactly one field, value.'),
  valueTooDeep: row(400, 'value is nested too deeply.'),
  valueNotJson: row(400, 'value contains something that JSON cannot represent.'),
  bodyNotJson: row(400, 'The body is not valid JSON.'),
  bodyNotObject: row(400, 'The body is not a JSON object.'),
  bodyTooDeep: row(400, 'The body is nested too deeply.'),
  bodyTooLarge: row(400, 'The body is larger than 1 MiB.'),
  bodyCutOff: row(400, 'The body ended early.'),
  requestInvalid: row(400, 'The request is not valid HTTP.'),
  rangeTooLong: row(400, 'Send start and end as a range of at most a the service.'),
  answersInvalid: row(400, 'answers must be an object that maps question ids to answers.'),
  questionUnknown: row(400, 'answers contains a question that is not in this quiz.'),
  answerMisfit: row(400, 'An answer does not match the type of its question.'),
  answersTooLarge: row(400, 'The answers have more than 256 KiB of text together.'),
  gradesInvalid: row(400, 'grades must have exactly one boolean for each open question of the result.'),
  idempotencyKeyInvalid: row(400, 'Idempotency-Key must be 1 to 255 visible ASCII characters.'),
  urlInvalid: row(400, 'url must be an https:// address of at most 2048 characters, without user info.'),
  secretInvalid: row(400, 'secret must be 1 to 1024 visible ASCII characters, without spaces.'),
  subscriberInvalid: row(400, 'subscriber must be 1 to 255 characters without control characters.'),
  eventTypeInvalid: row(400, "type must be 1 to 128 letters, digits, '.', '_' or '-'."),
  eventTypeUnknown: row(400, 'type is not in the event catalogue.'),
  sinceInvalid: row(400, 'since must be Unix seconds.'),
  eventIdInvalid: row(400, 'id must be 1 to 255 visible ASCII characters.'),
  dataMissing: row(400, 'data is missing.'),
  dataNotJson: row(400, 'data contains something that JSON cannot represent.'),
  dataTooDeep: row(400, 'data is nested too deeply.'),
  eventTooLarge: row(400, 'The event is larger than 256 KiB.'),

  recordsRefused: (count: number, refused: readonly RefusedRecord[]) =>
    new ApiError(400, `Nothing was stored: ${count} ${count === 1 ? 'record was' : 'records were'} refused.`, {
      refused,
    }),

  teamUnknown: row(404, 'This team does not exist.'),
  ownDeliveryUnknown: row(404, 'This delivery does not exist.'),
  ownerNeeded: row(403, 'Only an owner of the team can do this.'),
  colleagueUnknown: row(404, 'This person is not in this team.'),
  invitationUnknown: row(404, 'This invitation does not exist.'),
  ownAppUnknown: row(404, 'This app does not exist.'),
  clientUnknown: row(404, 'This client does not exist.'),
  clientSecretUnknown: row(404, 'This secret does not exist.'),
  clubUnknown: row(404, 'This club does not exist.'),
  providerUnknown: row(404, 'This provider does not exist.'),
  emailInvalid: row(400, 'email must be an e-mail address, such as name@example.org.'),
  /** One sentence per line, from the rules in routers/developer/shared/validation.ts. */
  registrationRefused: (sentences: string, faults: readonly FieldFault[]) => new ApiError(400, sentences, { faults }),
  alreadyInTeam: conflict('already_in_team', 'This person is already in this team.'),
  lastOwner: conflict('last_owner', 'A team needs at least one owner.'),
  tooManyApps: conflict('too_many_apps', 'A team can have at most 50 apps.'),
  tooManyClients: conflict('too_many_clients', 'An app can have at most 20 clients.'),
  teamFull: conflict('team_full', 'A team can have at most 200 clients, 1 MiB of text and 8 MiB of logos.'),
  tooManyRules: conflict('too_many_rules', 'An app can have rules for at most 100 collections.'),
  tooManyPeople: conflict('too_many_people', 'A team can have at most 100 people and invitations.'),
  tooManyEventKinds: conflict('too_many_event_kinds', 'A provider can describe at most 100 event types.'),
  changedMeanwhile: conflict('changed_meanwhile', 'This has been changed in the meantime. Read it again.'),
  notSandbox: conflict('not_sandbox', 'Only the sandbox client of an app can be requested for production.'),
  clientNotWeb: conflict('client_not_web', 'Only a web client can authenticate: a native app cannot protect a secret.'),
  tooManySecrets: conflict('too_many_secrets', 'A client can have at most two valid secrets. Remove one first.'),
  secretMissing: conflict('secret_missing', 'This client has no valid secret. Create one first.'),
  staysConfidential: conflict(
    'stays_confidential',
    'A production client that authenticates cannot become public again.',
  ),
  confirmationWrong: (consents: number) =>
    new ApiError(
      409,
      `${consents} ${consents === 1 ? 'consent is' : 'consents are'} in force and would end. Confirm with the client's id.`,
      { reason: 'confirmation_wrong' },
    ),
  nameNotConfirmed: conflict('confirmation_wrong', 'Confirm with the name.'),
  teamEnding: conflict('team_ending', 'This team is being deleted. Restore the team first.'),
  personUnknown: row(404, 'This person does not exist.'),
  exportTooLarge: row(413, 'This person has more than 16 MiB of data. Export it with member-apps member.'),

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
  entryNotOwn: row(403, 'This entry belongs to another member.', { code: 'forbidden' }),
  appItselfNeeded: row(403, 'Only the app itself can do this.', { code: 'forbidden' }),
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

  bodyTooSlow: row(408, 'The body arrived too slowly.'),

  quizClosed: conflict('quiz_closed', 'This quiz is closed.'),
  quizEmpty: conflict('quiz_empty', 'This quiz has no questions.'),
  attemptsExhausted: conflict('attempts_exhausted', 'All attempts at this quiz have been used.'),
  idempotencyMismatch: conflict('idempotency_mismatch', 'This Idempotency-Key was already used with a different body.'),
  alreadyReviewed: conflict('already_reviewed', 'This result is not awaiting review.'),
  appSuspended: conflict('app_suspended', 'This app is suspended.'),
  webhookMissing: conflict('webhook_missing', 'This app has no webhook. Set its address first.'),
  alreadyDelivered: conflict('already_delivered', 'This delivery has already succeeded.'),
  subscriptionEnded: conflict('subscription_ended', 'This subscription has ended.'),

  cursorExpired: row(410, 'This cursor has expired. Begin again without since.'),
  entryChanged: row(412, 'This entry has changed.'),
  inputTooLarge: row(413, 'The body is larger than 1 MiB.'),
  batchTooLarge: row(413, 'The batch is too large. Send large values in separate requests.'),
  operationsTooLarge: row(413, 'The operations have more than 64 KiB beside their values.'),
  readsTooLarge: row(413, 'The entries that the batch reads are larger than the storage quota.'),
  quotaExceeded: row(413, 'App storage quota exceeded.'),
  typeWrong: row(415, 'Send the body as application/json.'),

  scopeInvalid: row(422, 'scope is org or user.'),
  scopeOrgOnly: row(422, 'This token has no member: scope is org.'),
  waitInvalid: row(422, 'wait is 0 to 50 seconds.'),
  nameInvalid: row(422, "Names use 1 to 64 letters, digits, '_' or '-'."),
  limitInvalid: row(422, 'limit is 1 to 200.'),
  offsetInvalid: row(422, 'offset is 0 or more.'),
  prefixInvalid: row(422, "prefix has 1 to 64 letters, digits, '_' or '-'."),
  valuesInvalid: row(422, 'values is true or false.'),
  timeInvalid: row(422, 'start and end are Unix seconds.'),
  /** Any other invalid input: 422 in queries, 400 in mutations, as document B has it. */
  inputInvalid: (status: 400 | 422, message: string) => new ApiError(status, message),

  rateLimited: (retryAfterSeconds: number) =>
    new ApiError(429, `The request quota is exhausted; try again in ${retryAfterSeconds} s.`, {
      headers: { 'Retry-After': String(retryAfterSeconds) },
    }),
  failuresLimited: (retryAfterSeconds: number) =>
    new ApiError(429, `Too many invalid tokens were sent from this address; try again in ${retryAfterSeconds} s.`, {
      headers: { 'Retry-After': String(retryAfterSeconds) },
    }),
  testsLimited: (retryAfterSeconds: number) =>
    new ApiError(429, `An app can send at most 10 test events per minute; try again in ${retryAfterSeconds} s.`, {
      headers: { 'Retry-After': String(retryAfterSeconds) },
    }),
  changesLimited: (retryAfterSeconds: number) =>
    new ApiError(429, `A team can make at most 1000 changes per day; try again in ${retryAfterSeconds} s.`, {
      headers: { 'Retry-After': String(retryAfterSeconds) },
    }),
  keysLimited: (retryAfterSeconds: number) =>
    new ApiError(
      429,
      `A member can use at most 10000 Idempotency-Keys in a store in 24 hours; try again in ${retryAfterSeconds} s.`,
      { headers: { 'Retry-After': String(retryAfterSeconds) } },
    ),
  waitsLimited: row(429, 'Too many requests of this member, app or team already wait for changes.', {
    headers: { 'Retry-After': '1' },
  }),
  peopleLimited: (retryAfterSeconds: number) =>
    new ApiError(429, `Too many requests were made by this person or team; try again in ${retryAfterSeconds} s.`, {
      headers: { 'Retry-After': String(retryAfterSeconds) },
    }),
  internal: (cause: unknown) => new ApiError(500, 'Something went wrong on our side.', { cause }),
  unavailable: (cause?: unknown) =>
    new ApiError(503, 'This service is not available right now.', { cause, headers: { 'Retry-After': '2' } }),
})

/** The error as that of one operation of a batch, counted from 0. */
export function ofOperation(index: number, error: ApiError): ApiError {
  error.message = `Operation ${index}: ${error.message}`
  return error
}

/** Errors without parameters, which a schema may name. */
export type PlainError = {
  [K in keyof typeof errors]: Parameters<(typeof errors)[K]> extends [] ? K : never
}[keyof typeof errors]

/** A zod option: the error to throw when a check fails. */
export const withError = (name: PlainError) => ({ error: name as string })

interface Details {
  status: number
  message: string
  code?: string | undefined
  reason?: string | undefined
  id?: string | undefined
  help?: string | undefined
  requestId?: string | undefined
  retryAfter?: number | undefined
}

/** Calls are rejected with this when the service refuses them. The message is the service's own sentence. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  /** As `invalid_request`; undefined where the service sends only a sentence, as the apps API does. */
  readonly code: string | undefined
  /** Tells the conflicts (409) apart, as `quiz_closed`. */
  readonly reason: string | undefined
  /** Names the error, as `keyUnknown`; undefined for an answer that is not the service's. It never changes. */
  readonly id: string | undefined
  /** The address of the page that says what to do about the error. */
  readonly help: string | undefined
  /** Identifies the request for the service's operators and in your team's request log. */
  readonly requestId: string | undefined
  /** Seconds after which to try again, for 429 and 503. */
  readonly retryAfter: number | undefined

  constructor({ status, message, code, reason, id, help, requestId, retryAfter }: Details) {
    super(message)
    this.status = status
    this.code = code
    this.reason = reason
    this.id = id
    this.help = help
    this.requestId = requestId
    this.retryAfter = retryAfter
  }
}

/** 401: nobody is signed in, or the sign-in has ended. */
export class SignInNeeded extends ApiError {
  override name = 'SignInNeeded'
}

/** 403: the member did not allow this scope, or the client does not have it. */
export class ScopeMissing extends ApiError {
  override name = 'ScopeMissing'
  readonly scope: string

  constructor(details: Details, scope: string) {
    super(details)
    this.scope = scope
  }
}

/** 412: the entry has been written or removed since it was read. */
export class EntryChanged extends ApiError {
  override name = 'EntryChanged'
}

/** 413: the app's store in this club is full. Nothing was stored. */
export class QuotaExceeded extends ApiError {
  override name = 'QuotaExceeded'
}

/** 429: the team has used up its requests; `retryAfter` says for how long. */
export class RateLimited extends ApiError {
  override name = 'RateLimited'
  declare readonly retryAfter: number
}

interface Body {
  detail?: string
  error?: { code?: string; message?: string; request_id?: string; reason?: string }
}

/** Reads the error of an answer, whose parsed body is `{ detail }` or `{ error: { code, message, request_id, reason } }`. */
export function toError(response: Response, given: unknown): ApiError {
  const { status, headers } = response
  const body = given as Body | null | undefined
  const { code, message, request_id, reason } = body?.error ?? {}
  const details: Details = {
    status,
    message: body?.detail ?? message ?? `The answer is ${status}, and not one of the service.`,
    code,
    reason,
    id: headers.get('x-error-code') ?? undefined,
    help: findHelp(response),
    requestId: headers.get('x-request-id') ?? request_id,
    retryAfter: parseSeconds(headers.get('retry-after')),
  }
  const [, scope] = /\bscope="([^"]+)"/.exec(headers.get('www-authenticate') ?? '') ?? []
  if (status === 401) return new SignInNeeded(details)
  if (status === 403 && scope) return new ScopeMissing(details, scope)
  if (status === 412) return new EntryChanged(details)
  if (details.id === 'quotaExceeded') return new QuotaExceeded(details)
  if (status === 429) return new RateLimited({ ...details, retryAfter: details.retryAfter ?? 60 })
  return new ApiError(details)
}

/** Relative to the answer's address. */
function findHelp({ headers, url }: Response): string | undefined {
  const [, address] = /<([^>]+)>; rel="help"/.exec(headers.get('link') ?? '') ?? []
  return address && resolved(address, url)
}

/** The service sends whole seconds; a proxy may send a date. */
function parseSeconds(retryAfter: string | null): number | undefined {
  if (!retryAfter) return undefined
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/** The one 404 that means an absent key: others are about the member, or about the address. */
export const isAbsence = (error: unknown) => error instanceof ApiError && error.id === 'keyUnknown'

/** A reference with its own scheme, or from the root of `base`'s host; undefined without a `base`. */
function resolved(reference: string, base: string): string | undefined {
  if (/^[a-z][a-z\d+.-]*:/i.test(reference)) return reference
  const [origin] = /^[a-z][a-z\d+.-]*:\/\/[^/?#]+/i.exec(base) ?? []
  return origin && reference.startsWith('/') ? origin + reference : undefined
}

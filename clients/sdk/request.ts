import { ApiError, SignInNeeded, toError } from './errors.ts'
import { need } from './platform.ts'
import { abortAfter, endedBy, pause } from './timers.ts'

/**
 * An access token, or a function that returns one: called before each request, and with the refused token when the service has
 * refused one. It may return the same token until then.
 */
export type Tokens = string | ((refused?: string) => string | Promise<string>)

export interface ClientOptions {
  /** Base addresses, as `https://apps.example.org/v1`, of the APIs that you call. */
  apps?: string | URL
  lms?: string | URL
  notify?: string | URL
  sync?: string | URL
  tokens: Tokens
  /**
   * The total time in seconds that a call may wait when the service asks to try again later. The call is rejected at once if the
   * wait would be longer, as with `RateLimited`. By default 5.
   */
  maxWaitSeconds?: number
  /** Sends the requests; by default the global `fetch`. */
  fetch?: typeof globalThis.fetch
}

/** Not part of the published interface: tests pass their own. */
export interface Clock {
  wait?: typeof pause
}

export interface CallOptions {
  /** Aborts the call, also while it waits. */
  signal?: AbortSignal | undefined
}

export interface Call extends CallOptions {
  query?: Record<string, string | number | undefined>
  headers?: Record<string, string | undefined>
  body?: unknown
  /** Whether the effect is the same when it arrives twice; by default true only for GET. */
  isRepeatable?: boolean
  /** After this a request without the head of an answer has lost its connection. By default none has. */
  silentMs?: number
}

type Section = 'apps' | 'lms' | 'notify' | 'sync'
export interface Answer {
  headers: Pick<Headers, 'get'>
  /** Parsed; undefined when it is empty. */
  body: unknown
}
export type Send = (section: Section, line: `${string} /${string}`, call?: Call) => Promise<Answer>

export const read = async <Body>(answer: Promise<Answer>) => (await answer).body as Body

/** After a lost connection. */
const PAUSES_MS = [200, 800]
/** The longest for the body of an answer: 10 MiB at 32 KiB/s, the lowest rate that the service itself accepts. */
const BODY_MS = 320_000
/** What a proxy answers that has lost its connection to the service; 503 where it does not say for how long. */
const isOfProxy = ({ status, retryAfter }: ApiError) =>
  [502, 504].includes(status) || (status === 503 && retryAfter === undefined)

/** Refusals of calls that may have been executed before. */
const afterLoss = new WeakSet<ApiError>()
export const isAfterLoss = (error: ApiError) => afterLoss.has(error)

/**
 * Sends calls, and repeats them where that is safe: once with another token after 401; after 429 at the time that the service
 * gives; and, if a repetition does no harm, after 503 and lost connections.
 */
export function createSend({
  tokens,
  maxWaitSeconds = 5,
  fetch: send = globalThis.fetch,
  wait = pause,
  ...addresses
}: ClientOptions & Clock): Send {
  const renew = typeof tokens === 'function' ? createRenewal(tokens) : undefined

  return async (section, line, call = {}) => {
    const { query = {}, headers, body, signal, isRepeatable = line.startsWith('GET '), silentMs } = call
    const base = addresses[section]
    if (!base) throw new Error(`createClient needs the address of ${section} for this call.`)
    const [method, path] = line.split(' ') as [string, string]
    if (!send) need('createClient', 'fetch')
    const url = withQuery(String(base).replace(/\/+$/, '') + path, query)
    const given = Object.entries({ ...headers, 'content-type': body === undefined ? undefined : 'application/json' })
    const known = given.filter((entry): entry is [string, string] => entry[1] !== undefined)
    const text = body === undefined ? null : JSON.stringify(body)

    let token = typeof tokens === 'string' ? tokens : await endedBy(signal, tokens())
    let [leftSeconds, lost, isUnsure, renewed] = [maxWaitSeconds, 0, false, false]
    for (;;) {
      const authorization = `Bearer ${token}`
      const limit = silentMs === undefined ? undefined : abortAfter(silentMs, signal)
      const init = {
        method,
        headers: { ...Object.fromEntries(known), authorization },
        body: text,
        signal: limit?.signal ?? signal ?? null,
      }
      let answer: Answer | ApiError
      try {
        const response = await send(url, init)
        limit?.restart(BODY_MS)
        answer = await readAnswer(response)
      } catch (error) {
        if (!isRepeatable || signal?.aborted || lost === PAUSES_MS.length) throw error
        isUnsure = true
        await wait(PAUSES_MS[lost++]!, signal)
        continue
      } finally {
        limit?.release()
      }
      if (!(answer instanceof ApiError)) return answer
      if (isUnsure) afterLoss.add(answer)
      const { status } = answer
      isUnsure ||= status >= 500
      const waitSeconds = Math.max(1, answer.retryAfter ?? Number.POSITIVE_INFINITY)
      if (answer instanceof SignInNeeded && renew && !renewed) {
        renewed = true
        const next = await endedBy(signal, renew(token))
        if (next === token) throw answer
        token = next
      } else if ((status === 429 || (status === 503 && isRepeatable)) && waitSeconds <= leftSeconds) {
        leftSeconds -= waitSeconds
        await wait(waitSeconds * 1000, signal)
        // Meanwhile this token may end as well.
        renewed = false
      } else if (isRepeatable && isOfProxy(answer) && lost < PAUSES_MS.length) {
        await wait(PAUSES_MS[lost++]!, signal)
      } else throw answer
    }
  }
}

/** A body that is cut is a lost answer, as is one that does not come. */
async function readAnswer(response: Response): Promise<Answer | ApiError> {
  const { ok, headers } = response
  const text = await response.text().catch((error) => {
    if (ok) throw error
    return ''
  })
  const body = parsed(text)
  return ok && (body !== undefined || text === '') ? { headers, body } : toError(response, body)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Without `URL`, as React Native's own cannot do this. */
function withQuery(address: string, query: Record<string, string | number | undefined>): string {
  const pairs = Object.entries(query).filter((pair): pair is [string, string | number] => pair[1] !== undefined)
  const text = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
  return text ? `${address}?${text}` : address
}

/**
 * Returns the token after a refused one. Calls that were sent with the same token share a renewal, even those that are refused
 * after it has finished: sharing only a running renewal caused three in place of one.
 */
function createRenewal(tokens: (refused: string) => string | Promise<string>) {
  let last: { refused: string; next: Promise<string> } | undefined
  return (refused: string): Promise<string> => {
    if (last?.refused === refused) return last.next
    const begun = { refused, next: (async () => tokens(refused))() }
    last = begun
    const drop = () => {
      if (last === begun) last = undefined
    }
    begun.next.then((next) => {
      if (next === refused) drop()
    }, drop)
    return begun.next
  }
}

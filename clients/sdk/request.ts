import { errorOf, SignInNeeded } from './errors.ts'
import { pause } from './pause.ts'
import type { Tokens } from './renewal.ts'
import { createRenewal } from './renewal.ts'

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
}

type Section = 'apps' | 'lms' | 'notify' | 'sync'
export type Send = (section: Section, line: `${string} /${string}`, call?: Call) => Promise<Response>

export const read = async <Answer>(response: Promise<Response>) => (await response).json() as Promise<Answer>

/** After a lost connection. */
const PAUSES_MS = [200, 800]

/**
 * Sends calls, and repeats them where that is safe: once with another token after 401; after 429 at the time that the service
 * gives; and, if a repetition does no harm, after 503 and lost connections.
 */
export function createSend({
  tokens,
  maxWaitSeconds = 5,
  fetch: send = fetch,
  wait = pause,
  ...addresses
}: ClientOptions & Clock): Send {
  const renew = typeof tokens === 'function' ? createRenewal(tokens) : undefined

  return async (section, line, { query = {}, headers, body, signal, isRepeatable = line.startsWith('GET ') } = {}) => {
    const base = addresses[section]
    if (!base) throw new Error(`createClient needs the address of ${section} for this call.`)
    const [method, path] = line.split(' ') as [string, string]
    const url = new URL(String(base).replace(/\/$/, '') + path)
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value))
    }
    const given = Object.entries({ ...headers, 'content-type': body === undefined ? undefined : 'application/json' })
    const known = given.filter((entry): entry is [string, string] => entry[1] !== undefined)
    const text = body === undefined ? null : JSON.stringify(body)

    let token = typeof tokens === 'string' ? tokens : await tokens()
    let [leftSeconds, lost, renewed] = [maxWaitSeconds, 0, false]
    for (;;) {
      const authorization = `Bearer ${token}`
      const init = {
        method,
        headers: { ...Object.fromEntries(known), authorization },
        body: text,
        signal: signal ?? null,
      }
      const response = await send(url, init).catch((error) => {
        if (!isRepeatable || signal?.aborted || lost === PAUSES_MS.length) throw error
      })
      if (!response) {
        await wait(PAUSES_MS[lost++]!, signal)
        continue
      }
      if (response.ok) return response
      const error = await errorOf(response)
      const { status } = error
      const waitSeconds = Math.max(1, error.retryAfter ?? Number.POSITIVE_INFINITY)
      if (error instanceof SignInNeeded && renew && !renewed) {
        renewed = true
        const next = await renew(token)
        if (next === token) throw error
        token = next
      } else if ((status === 429 || (status === 503 && isRepeatable)) && waitSeconds <= leftSeconds) {
        leftSeconds -= waitSeconds
        await wait(waitSeconds * 1000, signal)
      } else throw error
    }
  }
}

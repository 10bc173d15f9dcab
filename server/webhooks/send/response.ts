import type { IncomingMessage } from 'node:http'
import { MAX_RETRY_AFTER_SECONDS } from '../retry-schedule.ts'

export interface AttemptResult {
  /** The response's status; null without one. */
  status: number | null
  /**
   * Null when delivered. Otherwise a short, stable text without address or secret: `status 500`, `timeout`, `address not public`.
   * Publishers read it as `lastError`.
   */
  error: string | null
  /** The first 1 KiB of the response's body; null without a response. */
  responseBody: string | null
  /** The `Retry-After` of a failed response, 0 to 3600. */
  retryAfterSeconds: number | null
  /** The response was 410: the subscription ends. */
  gone: boolean
}

export const noResponse = (error: string): AttemptResult => ({
  status: null,
  error,
  responseBody: null,
  retryAfterSeconds: null,
  gone: false,
})

/** Stored bytes of a response's body, in UTF-8. */
const STORED_BYTES = 1_024

/** A body of up to this size is read to its end: that is cheaper than a new connection. */
const MAX_READ_BYTES = 16_384

/**
 * Reads a response. `onEnd` is called when no more of it is needed, with `complete` when it was read to its end; the returned
 * function gives the result so far.
 */
export function readResponse(
  response: IncomingMessage,
  now: () => number,
  onEnd: (complete: boolean) => void,
): () => AttemptResult {
  const chunks: Buffer[] = []
  let size = 0
  response.on('data', (chunk: Buffer) => {
    if (size < STORED_BYTES) chunks.push(chunk)
    size += chunk.length
    if (size > MAX_READ_BYTES) onEnd(false)
  })
  response.on('end', () => onEnd(true))
  response.on('error', () => onEnd(false))
  return () => toResult(response, excerpt(Buffer.concat(chunks)), now())
}

function toResult({ statusCode, headers }: IncomingMessage, responseBody: string, now: number): AttemptResult {
  const status = statusCode!
  if (status >= 200 && status < 300) {
    return { status, error: null, responseBody, retryAfterSeconds: null, gone: false }
  }
  return {
    status,
    error: status >= 300 && status < 400 ? `redirect ${status}` : `status ${status}`,
    responseBody,
    retryAfterSeconds: retryAfterSeconds(headers['retry-after'], now),
    gone: status === 410,
  }
}

/** The first 1 KiB as text that PostgreSQL can store: whole characters, no NUL. */
function excerpt(bytes: Buffer): string {
  const cut = bytes.length > STORED_BYTES
  const text = new TextDecoder().decode(bytes.subarray(0, STORED_BYTES), { stream: cut }).replaceAll('\0', '')
  // Decoding replaces each invalid byte with a character of three bytes.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(STORED_BYTES))
  return text.slice(0, read)
}

/**
 * `Retry-After` as seconds from `now`, at most an hour; null when the header is absent or malformed. Of several in one line, as
 * proxies join them, the first: a date has a comma too.
 */
function retryAfterSeconds(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  const [, number] = /^(\d+)\s*(?:,|$)/.exec(header) ?? []
  const seconds = number ? Number(number) : / GMT$/i.test(header) ? (Date.parse(header) - now) / 1_000 : NaN
  return Number.isNaN(seconds) ? null : Math.min(Math.max(Math.ceil(seconds), 0), MAX_RETRY_AFTER_SECONDS)
}

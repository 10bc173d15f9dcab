import type { IncomingMessage } from 'node:http'
import { MOST_RETRY_AFTER_SECONDS } from '../retry-schedule.ts'

/** What is kept of an answer's body, in bytes of UTF-8. */
const KEPT_BYTES = 4_096

/** So much is read to its end, as that is cheaper than a new connection. */
const READ_BYTES = 16_384

export interface Answer {
  status: number
  /** The beginning of the body. */
  text: string
  retryAfter: string | undefined
}

/** Collects an answer; `ended` is called once, when nothing more of it is wanted. `complete` says that it came to its end. */
export function readAnswer(response: IncomingMessage, ended: (complete: boolean) => void): () => Answer {
  const chunks: Buffer[] = []
  let size = 0
  response.on('data', (chunk: Buffer) => {
    if (size < KEPT_BYTES) chunks.push(chunk)
    size += chunk.length
    if (size > READ_BYTES) ended(false)
  })
  response.on('end', () => ended(true))
  response.on('error', () => ended(false))
  return () => ({
    status: response.statusCode!,
    text: beginning(Buffer.concat(chunks)),
    retryAfter: response.headers['retry-after'],
  })
}

/** The first 4 KB as text that PostgreSQL takes: whole characters, and no NUL. */
function beginning(bytes: Buffer): string {
  const cut = bytes.length > KEPT_BYTES
  const text = new TextDecoder().decode(bytes.subarray(0, KEPT_BYTES), { stream: cut }).replaceAll('\0', '')
  // What was not UTF-8 has grown by being decoded.
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(KEPT_BYTES))
  return text.slice(0, read)
}

/** Seconds until the receiver wants to be asked again, an hour at most; null when it does not say so in HTTP's terms. */
export function retryAfterSeconds(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  const seconds = /^\d+$/.test(header)
    ? Number(header)
    : / GMT$/.test(header)
      ? (Date.parse(header) - now) / 1_000
      : NaN
  return Number.isNaN(seconds) ? null : Math.min(Math.max(Math.ceil(seconds), 0), MOST_RETRY_AFTER_SECONDS)
}

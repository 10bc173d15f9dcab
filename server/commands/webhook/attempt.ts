import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { responseTo } from '../../outgoing/response-to.ts'
import type { Message } from '../../webhooks/send/message.ts'
import { buildHeaders } from '../../webhooks/send/message.ts'
import type { AttemptResult } from '../../webhooks/send/response.ts'
import { readResponse } from '../../webhooks/send/response.ts'

/** As for a delivery. */
const TIMEOUT_MS = 15_000

export interface Attempt {
  outcome: 'accepted' | 'refused' | 'neither'
  /** Null when there was no response. */
  status: number | null
  milliseconds: number
  /** The first 1 KiB of the response, or the reason for its absence. */
  answer: string
}

/**
 * Sends a message as the service does, also over http and to this machine: with its headers alone, which `fetch` would add to,
 * and with a result once the status line has arrived. `at` is in Unix milliseconds.
 */
export function attempt(message: Message, at: number, timeoutMs = TIMEOUT_MS): Promise<Attempt> {
  const { protocol, hostname, port, pathname, search, host } = new URL(message.url)
  const request = protocol === 'https:' ? requestHttps : requestHttp
  const start = performance.now()
  return new Promise((resolve) => {
    let result: (() => AttemptResult) | undefined
    const sent = request({
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      path: pathname + search,
      method: 'POST',
      headers: buildHeaders(message, host, at),
    })
    const end = (status: number | null, answer: string) => {
      clearTimeout(timeout)
      sent.destroy()
      const outcome = toOutcome(status)
      resolve({ outcome, status, milliseconds: Math.round(performance.now() - start), answer: answer.trim() })
    }
    const endWith = ({ status, responseBody }: AttemptResult) => end(status, responseBody ?? '')
    const timeout = setTimeout(
      () => (result ? endWith(result()) : end(null, `within ${timeoutMs / 1_000} s`)),
      timeoutMs,
    )
    responseTo(sent).then(
      (response) => {
        result = readResponse(response, Date.now, () => endWith(result!()))
      },
      ({ code, message }: NodeJS.ErrnoException) => end(null, `(${code ?? message})`),
    )
    sent.end(message.body)
  })
}

function toOutcome(status: number | null): Attempt['outcome'] {
  if (status === null) return 'neither'
  if (status >= 200 && status < 300) return 'accepted'
  return status >= 400 && status < 500 ? 'refused' : 'neither'
}

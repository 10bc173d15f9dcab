import { DELIVERY_HEADERS, signature } from '../../../routers/webhooks/deliveries/request.ts'

export interface Message {
  /** Sent as `webhook-id`: the same in every attempt of a delivery. */
  id: string
  url: string
  /** Null: the message is not signed. */
  secret: string | null
  /** A replaced secret that signs beside `secret`. */
  former?: string | null
  /** JSON text. */
  body: string
  /** When the attempt began, in Unix milliseconds; by default now. */
  at?: number
  traceparent?: string | undefined
}

/** `now` is in Unix milliseconds. */
export function buildHeaders(message: Message, host: string, now: number): Record<string, string | number> {
  const { id, secret, former, body, traceparent } = message
  const timestamp = Math.floor(now / 1_000)
  return {
    host,
    ...DELIVERY_HEADERS,
    'content-length': Buffer.byteLength(body),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(traceparent !== undefined && { traceparent }),
    ...(secret !== null && {
      'x-webhook-secret': secret,
      'webhook-signature': signature(former ? [secret, former] : [secret], id, timestamp, body),
    }),
  }
}

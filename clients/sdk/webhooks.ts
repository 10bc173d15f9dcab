/** A body that was not signed with your secret, or not recently. */
export class WebhookRefused extends Error {
  override name = 'WebhookRefused'
}

export interface WebhookEvent<Data = unknown> {
  /** The event's id: the same for all its receivers. To drop duplicates, use the header `webhook-id`. */
  id: string
  type: string
  /** When it was published, ISO 8601. */
  timestamp: string
  data: Data
}

/** Headers of a `Request`, or of Node's `IncomingMessage`. */
type GivenHeaders = Headers | Record<string, string | string[] | undefined>

const bytesOf = (body: string | Uint8Array): Uint8Array<ArrayBuffer> =>
  typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)

const headerOf = (headers: GivenHeaders, name: string): string =>
  String((headers instanceof Headers ? headers.get(name) : headers[name]) ?? '')

const keyOf = (secret: string) =>
  crypto.subtle.importKey('raw', bytesOf(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])

function signedBytes(id: string, timestamp: string, body: Uint8Array) {
  const before = bytesOf(`${id}.${timestamp}.`)
  const all = new Uint8Array(before.length + body.length)
  all.set(before)
  all.set(body, before.length)
  return all
}

/**
 * Returns a delivery's event, if it was signed with the secret and is at most `toleranceSeconds` old, by default 300; else throws
 * `WebhookRefused`. Pass the body's original bytes: parsed and serialised again, they may differ. While you change the secret,
 * pass both.
 */
export async function verifyWebhook<Data = unknown>(
  body: string | Uint8Array,
  headers: GivenHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = 300 } = {},
): Promise<WebhookEvent<Data>> {
  const [id, timestamp] = [headerOf(headers, 'webhook-id'), headerOf(headers, 'webhook-timestamp')]
  const ageSeconds = Math.abs(Date.now() / 1000 - Number(timestamp || Number.NaN))
  if (!(ageSeconds <= toleranceSeconds)) throw new WebhookRefused('The webhook is too old, or has no time.')
  const signed = signedBytes(id, timestamp, bytesOf(body))
  for (const one of [secret].flat()) {
    const key = await keyOf(one)
    for (const signature of headerOf(headers, 'webhook-signature').split(' ')) {
      const [, base64] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature) ?? []
      const given = base64 && Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
      if (given && (await crypto.subtle.verify('HMAC', key, given, signed))) {
        return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body))
      }
    }
  }
  throw new WebhookRefused('The webhook was not signed with this secret.')
}

/** A delivery as the service sends it, for tests of your receiver: `delivery` is its id, the same when it is sent again. */
export async function signedRequest(
  url: string | URL,
  secret: string,
  event: { type: string; data: unknown; id?: string },
  { delivery = crypto.randomUUID(), at = new Date() }: { delivery?: string; at?: Date } = {},
): Promise<Request> {
  const body = JSON.stringify({ id: crypto.randomUUID(), timestamp: at.toISOString(), ...event })
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const mac = await crypto.subtle.sign('HMAC', await keyOf(secret), signedBytes(delivery, timestamp, bytesOf(body)))
  const headers = {
    'content-type': 'application/json',
    'webhook-id': delivery,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${btoa(String.fromCharCode(...new Uint8Array(mac)))}`,
    'x-webhook-secret': secret,
  }
  return new Request(url, { method: 'POST', headers, body })
}

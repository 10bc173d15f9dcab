import type { GivenHeaders } from './given-headers.ts'
import { readValues } from './given-headers.ts'
import { need, PlatformLacks, randomId } from './platform.ts'

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

const toBytes = (body: string | Uint8Array): Uint8Array<ArrayBuffer> =>
  typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)

/** The one value of a header, which load balancers may put in a list. */
function readHeader(headers: GivenHeaders, name: string): string {
  const [value, ...others] = readValues(headers, name)
  if (!value) throw new WebhookRefused(`The webhook has no header ${name}.`)
  if (others.length > 0) throw new WebhookRefused(`The webhook has several headers ${name}.`)
  return value
}

/** The signatures of all `webhook-signature` headers, which a proxy may have joined by commas. */
function readSignatures(headers: GivenHeaders): string[] {
  const values = readValues(headers, 'webhook-signature')
  if (values.length === 0) throw new WebhookRefused('The webhook has no header webhook-signature.')
  const all = values.flatMap((value) => value.split(/[\s,]+(?=v\d)|\s+/))
  return all.flatMap((one) => /^v1,([A-Za-z0-9+/]{43}=),?$/.exec(one)?.[1] ?? [])
}

const importKey = (secret: string) =>
  crypto.subtle.importKey('raw', toBytes(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])

function signedBytes(id: string, timestamp: string, body: Uint8Array) {
  const before = toBytes(`${id}.${timestamp}.`)
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
  given: GivenHeaders | Promise<GivenHeaders>,
  secret: string | readonly string[],
  { toleranceSeconds = 300 } = {},
): Promise<WebhookEvent<Data>> {
  need('verifyWebhook', 'crypto.subtle.importKey', 'TextEncoder', 'TextDecoder', 'atob')
  // Next.js returns a promise of them.
  const headers = await given
  const [id, timestamp] = [readHeader(headers, 'webhook-id'), readHeader(headers, 'webhook-timestamp')]
  const signatures = readSignatures(headers)
  const ageSeconds = Math.abs(Date.now() / 1000 - Number(timestamp))
  if (!(ageSeconds <= toleranceSeconds)) throw new WebhookRefused('The webhook is too old, or has no time.')
  const signed = signedBytes(id, timestamp, toBytes(body))
  for (const one of [secret].flat()) {
    const key = await importKey(one)
    for (const base64 of signatures) {
      const signature = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) {
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
  { delivery = randomId(), at = new Date() }: { delivery?: string; at?: Date } = {},
): Promise<Request> {
  need('signedRequest', 'crypto.subtle.importKey', 'TextEncoder', 'btoa', 'Request')
  const body = JSON.stringify({ id: randomId(), timestamp: at.toISOString(), ...event })
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const mac = await crypto.subtle.sign('HMAC', await importKey(secret), signedBytes(delivery, timestamp, toBytes(body)))
  const headers = {
    'content-type': 'application/json',
    'webhook-id': delivery,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${btoa(String.fromCharCode(...new Uint8Array(mac)))}`,
    'x-webhook-secret': secret,
  }
  return new Request(url, { method: 'POST', headers, body })
}

export type { GivenHeaders }
export { PlatformLacks }

import { createHmac } from 'node:crypto'

/** A Standard Webhooks key: its bytes in base64. */
const standardKey = /^whsec_([A-Za-z0-9+/]+={0,2})$/

function signaturesBy(secret: string, signed: string): string {
  const [, key] = standardKey.exec(secret) ?? []
  const keys = [Buffer.from(secret, 'utf8'), ...(key === undefined ? [] : [Buffer.from(key, 'base64')])]
  return keys.map((bytes) => `v1,${createHmac('sha256', bytes).update(signed).digest('base64')}`).join(' ')
}

/**
 * The value of `webhook-signature` (Standard Webhooks, HMAC-SHA256): the signatures by each secret, separated by spaces. The key is
 * the secret as text, since providers choose any; a secret of the form `whsec_…` adds a second signature with the key that it
 * encodes. `timestamp` is in Unix seconds.
 */
export function signature(secrets: readonly string[], id: string, timestamp: number, body: string): string {
  const signed = `${id}.${timestamp}.${body}`
  return secrets.map((secret) => signaturesBy(secret, signed)).join(' ')
}

/** Headers that every delivery has. Firewalls refuse requests without `accept`. */
export const DELIVERY_HEADERS = {
  accept: '*/*',
  'content-type': 'application/json',
  'user-agent': 'member-apps-api-webhooks/1',
}

interface Event {
  id: string
  type: string
  /** An ISO time. */
  publishedAt: string
}

/** What receivers get. `data` is JSON text. */
export const formatBody = ({ id, type, publishedAt }: Event, data: string) =>
  `{"id":${JSON.stringify(id)},"type":"${type}","timestamp":"${publishedAt}","data":${data}}`

import { createHmac } from 'node:crypto'

/** The form in which Standard Webhooks hands out keys: their bytes in base64. */
const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/

/**
 * The value of `webhook-signature` (Standard Webhooks, HMAC-SHA256). The key is the secret's bytes as it stands, since
 * providers choose theirs freely; one that is written as `whsec_…` signs a second time with the key that it stands for.
 * `timestamp` is in Unix seconds, as it is sent.
 */
export function signature(secret: string, id: string, timestamp: number, body: string): string {
  const [, key] = encoded.exec(secret) ?? []
  const keys = [Buffer.from(secret, 'utf8'), ...(key === undefined ? [] : [Buffer.from(key, 'base64')])]
  const signed = `${id}.${timestamp}.${body}`
  return keys.map((bytes) => `v1,${createHmac('sha256', bytes).update(signed).digest('base64')}`).join(' ')
}

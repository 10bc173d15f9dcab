import { renderSVG } from 'uqr'
import { need, PlatformLacks } from './platform.ts'
import type { CallOptions, ClientOptions } from './request.ts'
import { createSend, read } from './request.ts'

export interface CardCode {
  code: string
  /** The page about the card. */
  url: string
  /** When the code expires, in Unix seconds. */
  validUntil: number
}

/** The member's card in forms that others can check. */
export interface Card {
  code(options?: CallOptions): Promise<CardCode>
  /** An SVG of the code's page, dark on white: show it, and ask again before `validUntil` of the code. */
  qr(options?: CallOptions): Promise<string>
}

/** Needs the addresses `sync` and, as `createClient`, `tokens`. */
export function createCard(settings: ClientOptions): Card {
  const send = createSend(settings)
  const code = (options?: CallOptions) => read<CardCode>(send('sync', 'GET /membercard/code', options))
  return { code, qr: async (options) => renderSVG((await code(options)).url, { ecc: 'M', border: 4 }) }
}

export interface CheckedCard {
  /** Or `~` and a hash of a long one. */
  serial: string
  /** Cut with `…` where it is long, as the club. */
  name: string
  club: string
  /** The last day of the card, YYYY-MM-DD. */
  validUntil: string
  /** When the code expires, in Unix seconds. */
  expiresAt: number
}

/** A public key as the service publishes it. */
export interface CardKey {
  kid: string
  kty: string
  crv?: string
  x?: string
  y?: string
}

/** A code that proves no valid card. */
export class CardRefused extends Error {
  override name = 'CardRefused'
  /** `key`: none of the keys has signed it; get those that are published now. */
  readonly reason: 'malformed' | 'key' | 'signature' | 'expired'

  constructor(reason: CardRefused['reason']) {
    super(`This code of a card was refused: ${reason}.`)
    this.reason = reason
  }
}

const toBytes = (base64url: string) =>
  Uint8Array.from(atob(base64url.replace(/-/g, '+').replace(/_/g, '/')), (char) => char.charCodeAt(0))

function parse(code: string) {
  try {
    const [header, claims, signature, ...others] = code.split('.') as [string, string, string]
    const [{ alg, typ, kid }, card] = [header, claims].map((part) =>
      JSON.parse(new TextDecoder().decode(toBytes(part))),
    )
    if (others.length > 0 || alg !== 'ES256' || typ !== 'membercard+jwt') throw new CardRefused('malformed')
    return { kid, card, signature: toBytes(signature), signed: new TextEncoder().encode(`${header}.${claims}`) }
  } catch {
    throw new CardRefused('malformed')
  }
}

/**
 * Returns the card of a code, or of the address in a QR, without a connection; else throws `CardRefused`. `keys` is the JSON at
 * `/.well-known/membercards`, read within the last day. A card that was withdrawn passes until its code expires.
 */
export async function verifyCard(code: string, { keys }: { keys: readonly CardKey[] }): Promise<CheckedCard> {
  need('verifyCard', 'crypto.subtle.importKey', 'TextEncoder', 'TextDecoder', 'atob')
  const { kid, card, signature, signed } = parse(code.slice(code.lastIndexOf('/') + 1))
  const jwk = keys.find((key) => key.kid === kid)
  if (!jwk) throw new CardRefused('key')
  const key = await crypto.subtle.importKey('jwk', jwk, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify'])
  const isGenuine = await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, signed)
  if (!isGenuine) throw new CardRefused('signature')
  if (card.t !== 'valid' || !(card.exp * 1000 > Date.now())) throw new CardRefused('expired')
  return { serial: card.s, name: card.n, club: card.c, validUntil: card.e, expiresAt: card.exp }
}

export type { CallOptions, ClientOptions }
export { PlatformLacks }

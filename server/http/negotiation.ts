import type { IncomingMessage } from 'node:http'

/** Browsers send up to 200 bytes. */
const MAX_BYTES = 1_024

const NEGOTIATED = ['accept', 'accept-language', 'accept-encoding', 'accept-charset']

/**
 * A negotiated header beyond 1 KiB counts as absent. Koa and oidc-provider parse them with negotiator, whose time is quadratic:
 * 15 KB of quoted commas stopped the process for 0.4 s.
 */
export function dropLongNegotiation({ headers }: IncomingMessage) {
  for (const name of NEGOTIATED) if ((headers[name]?.length ?? 0) > MAX_BYTES) delete headers[name]
}

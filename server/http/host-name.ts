import { isIP } from 'node:net'

/** Normalises a host for comparison: lower case, without port and final dot. */
export const normalizeHost = (host: string) => host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')

/** Names that no stranger can register (RFC 6761, 6762, 8375), and those that Kubernetes assigns. */
const PRIVATE = /^[^.]+$|\.(?:localhost|local|internal|home\.arpa|svc)$/

/**
 * Whether a request to the internal port uses a name of the internal network. A page at any other name that its owner resolves to
 * this machine would be of the same origin for a browser (DNS rebinding). `names` are allowed in addition.
 */
export function isInternalHost(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return true // HTTP/1.0
  const name = normalizeHost(host)
  return isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || PRIVATE.test(name) || names.includes(name)
}

import { isIP } from 'node:net'
import { parseUrl } from '../../prisma/parse-url.ts'
import { within } from '../../prisma/within.ts'
import type { Resolve } from './resolve.ts'

export interface Receiver {
  /** A name, or an IP address without brackets. */
  hostname: string
  /** With the port, as in the `Host` header. */
  host: string
  port: number
  /** The name that the certificate must match; empty when the receiver is an IP address. */
  servername: string
  /** With the query. */
  path: string
}

/** Parses a receiver's URL; null unless it is `https` without user info. */
export function parseReceiver(url: string): Receiver | null {
  const parsed = parseUrl(url)
  if (!parsed) return null
  // The parser has normalised every notation of an IPv4 address.
  const { protocol, username, password, hostname: bracketed, host, port, pathname, search } = parsed
  if (protocol !== 'https:' || username !== '' || password !== '') return null
  const hostname = bracketed.replace(/^\[|\]$/g, '')
  const servername = isIP(hostname) === 0 ? hostname.replace(/\.$/, '') : ''
  return { hostname, host, port: Number(port || 443), servername, path: pathname + search }
}

const NOT_FOUND = ['ENOTFOUND', 'ENODATA', 'EBADNAME']
const TIMED_OUT = ['ETIMEOUT', 'ECANCELLED']

export interface AddressRules {
  resolve: Resolve
  /** Whether an address may be connected to. */
  isAllowed: (address: string) => boolean
}

/** Every address of a name is checked; a name with more is rejected. */
const MAX_ADDRESSES = 64

/**
 * A receiver's addresses, each of which may be connected to; or the error as a string, also when its name cannot be resolved
 * within `timeMs`.
 */
export async function findAddresses(
  { hostname }: Receiver,
  { resolve, isAllowed }: AddressRules,
  timeMs: number,
): Promise<readonly string[] | string> {
  const addresses =
    isIP(hostname) === 0 ? await within(timeMs, resolve(hostname).catch(describeError), 'name timeout') : [hostname]
  if (typeof addresses === 'string') return addresses
  if (addresses.length > MAX_ADDRESSES) return 'too many addresses'
  // One address that is not public rejects the name: only an attacker mixes the two.
  return addresses.length > 0 && addresses.every(isAllowed) ? addresses : 'address not public'
}

function describeError({ code = '' }: { code?: string }): string {
  if (NOT_FOUND.includes(code)) return 'name not found'
  if (TIMED_OUT.includes(code)) return 'name timeout'
  return /^[A-Z_]{2,32}$/.test(code) ? `name lookup: ${code}` : 'name lookup failed'
}

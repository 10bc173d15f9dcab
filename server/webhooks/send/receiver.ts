import { isIP } from 'node:net'
import { within } from '../../../prisma/within.ts'
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
  if (!URL.canParse(url)) return null
  // The parser has normalised every notation of an IPv4 address.
  const { protocol, username, password, hostname: bracketed, host, port, pathname, search } = new URL(url)
  if (protocol !== 'https:' || username !== '' || password !== '') return null
  const hostname = bracketed.replace(/^\[|\]$/g, '')
  const servername = isIP(hostname) === 0 ? hostname.replace(/\.$/, '') : ''
  return { hostname, host, port: Number(port || 443), servername, path: pathname + search }
}

const NOT_FOUND = ['ENOTFOUND', 'ENODATA', 'EBADNAME']
const TIMED_OUT = ['ETIMEOUT', 'ECANCELLED']

/** A receiver's addresses, or the error as a string when its name cannot be resolved within `timeMs`. */
export async function resolveAddresses(
  { hostname }: Receiver,
  resolve: Resolve,
  timeMs: number,
): Promise<readonly string[] | string> {
  if (isIP(hostname) !== 0) return [hostname]
  return within(timeMs, resolve(hostname).catch(describeError), 'name timeout')
}

function describeError({ code = '' }: { code?: string }): string {
  if (NOT_FOUND.includes(code)) return 'name not found'
  if (TIMED_OUT.includes(code)) return 'name timeout'
  return /^[A-Z_]{2,32}$/.test(code) ? `name lookup: ${code}` : 'name lookup failed'
}

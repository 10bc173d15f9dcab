import { isIP } from 'node:net'
import type { Resolve } from './resolve.ts'

export interface Receiver {
  /** A name, or an address as it is written without brackets. */
  hostname: string
  /** With its port, as the header has it. */
  host: string
  port: number
  /** The name that the certificate has to be for; empty when that is the address. */
  servername: string
  /** With its query. */
  path: string
}

/** Where a delivery goes; null when the address is not one that `https` alone leads to. */
export function receiverOf(url: string): Receiver | null {
  if (!URL.canParse(url)) return null
  // It has put every notation of an IPv4 address into the common one.
  const { protocol, username, password, hostname: written, host, port, pathname, search } = new URL(url)
  if (protocol !== 'https:' || username !== '' || password !== '') return null
  const hostname = written.replace(/^\[|\]$/g, '')
  const servername = isIP(hostname) === 0 ? hostname.replace(/\.$/, '') : ''
  return { hostname, host, port: Number(port || 443), servername, path: pathname + search }
}

const NOT_FOUND = ['ENOTFOUND', 'ENODATA', 'EBADNAME']
const TIMED_OUT = ['ETIMEOUT', 'ECANCELLED']

/** The addresses of a receiver, or in a short text why there are none. */
export async function addressesOf({ hostname }: Receiver, resolve: Resolve, timeMs: number) {
  if (isIP(hostname) !== 0) return [hostname]
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((settle) => {
    timer = setTimeout(() => settle('name timeout'), timeMs)
  })
  return Promise.race([resolve(hostname).catch(reasonOf), late]).finally(() => clearTimeout(timer))
}

function reasonOf({ code = '' }: { code?: string }): string {
  if (NOT_FOUND.includes(code)) return 'name not found'
  if (TIMED_OUT.includes(code)) return 'name timeout'
  return /^[A-Z_]{2,32}$/.test(code) ? `name lookup: ${code}` : 'name lookup failed'
}

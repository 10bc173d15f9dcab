import type { IncomingMessage } from 'node:http'
import { isIP, isIPv6 } from 'node:net'
import proxyAddress from 'proxy-addr'

/** Returns a client's IP address, by which limits per address count. */
export type ClientAddress = (request: IncomingMessage) => string

/**
 * Reads X-Forwarded-For from the right, as long as the addresses are in `trustedProxies` (addresses and networks); without any,
 * the address is the socket's, and the header is ignored. Throws on a malformed network.
 */
export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = proxyAddress.compile([...trustedProxies])
  return (request) => {
    const address = proxyAddress(request, isTrusted)
    // A trusted proxy may forward `unknown` or an empty header.
    return isIP(address) ? address : (request.socket.remoteAddress ?? '')
  }
}

/** The first 64 bits of an IPv6 address, as one subscriber has all addresses below; an IPv4 address as it is. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)
  if (mapped) return mapped[1]!
  const plain = address.replace(/%.*$/, '')
  if (!isIPv6(plain)) return address
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':')
    groups.push(...Array<string>(8 - groups.length - last.length).fill('0'), ...last)
  }
  return groups.slice(0, 4).join(':')
}

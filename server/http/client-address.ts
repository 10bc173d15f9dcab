import type { IncomingMessage } from 'node:http'
import { isIP, isIPv6 } from 'node:net'
import proxyAddress from 'proxy-addr'
import { dotted, parseGroups } from '../../routers/kernel/ipv6-groups.ts'

/** Returns a client's IP address, by which limits per address count. */
export type ClientAddress = (request: IncomingMessage) => string

/**
 * The addresses of X-Forwarded-For, which some proxies send with their ports (`192.0.2.1:443`, `[2001:db8::1]:443`); several
 * headers are one list.
 */
const withoutPorts = (list: string) =>
  list
    .split(',')
    .map((one) => one.trim().replace(/^(?:\[(.*)\]|([\d.]+))(?::\d+)?$/, '$1$2'))
    .join(',')

/**
 * Reads X-Forwarded-For from the right, as long as the addresses are in `trustedProxies` (addresses and networks); without any,
 * the address is the socket's, and the header is ignored. Throws on a malformed network.
 */
export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = proxyAddress.compile([...trustedProxies])
  return (request) => {
    const { socket, headers } = request
    const list = withoutPorts(String(headers['x-forwarded-for'] ?? ''))
    const address = proxyAddress(
      { socket, headers: { 'x-forwarded-for': list } } as unknown as IncomingMessage,
      isTrusted,
    )
    // A trusted proxy may forward `unknown` or an empty header.
    return isIP(address) ? address : (request.socket.remoteAddress ?? '')
  }
}

/** IPv4-mapped, and NAT64 (RFC 6052), below which IPv4 clients reach an IPv6 host: each is a subscriber of its own. */
const withIpv4 = new Set(
  [
    [0, 0, 0, 0, 0, 0xffff],
    [0x64, 0xff9b, 0, 0, 0, 0],
  ].map(String),
)

/** The first 64 bits of an IPv6 address, as one subscriber has all addresses below; an IPv4 address as it is. */
export function toNetwork(address: string): string {
  const plain = address.replace(/%.*$/, '')
  if (!isIPv6(plain)) return address
  const groups = parseGroups(plain)
  const [high, low] = groups.slice(6) as [number, number]
  if (withIpv4.has(groups.slice(0, 6).join())) return dotted(high, low)
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')
}

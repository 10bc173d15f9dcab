import { BlockList, isIP, isIPv4 } from 'node:net'
import { embeddedIn } from './embedded.ts'

type Family = 'ipv4' | 'ipv6'

/** IANA's special-purpose registry, multicast, and 168.63.129.16, where Azure serves its virtual machines. */
const special4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/** Today's global unicast, and the special ranges within it. */
const global6 = ['2000::/3']
const special6 = ['2001::/23', '2001:db8::/32', '2620:4f:8000::/48', '3fff::/20']
const mapped6 = ['::ffff:0:0/96']

/** One list per family: a `BlockList` with both matches an IPv4 address against mapped IPv6 networks. */
function createBlockList(family: Family, networks: readonly string[]) {
  const list = new BlockList()
  for (const network of networks) {
    const [address, prefix = family === 'ipv4' ? 32 : 128] = network.split('/')
    list.addSubnet(address!, Number(prefix), family)
  }
  return (address: string) => list.check(address, family)
}

const isSpecial4 = createBlockList('ipv4', special4)
const isGlobal6 = createBlockList('ipv6', global6)
const isSpecial6 = createBlockList('ipv6', special6)
const isMapped6 = createBlockList('ipv6', mapped6)

/** Whether the text is an IP address or a network such as `10.20.0.0/16`, without a zone and not IPv4-mapped. */
export function isNetwork(text: string): boolean {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const family = isIP(address)
  if (family === 0 || Number(prefix ?? 0) > (family === 4 ? 32 : 128)) return false
  return family === 4 || !isMapped6(address)
}

/**
 * Returns a predicate: may this IP address be connected to? True for public unicast and for addresses that the operator allows.
 * Where an IPv6 address embeds an IPv4 address, that one has to be public; if it is not, both have to be allowed, which an
 * IPv4-mapped address cannot be. Always false for addresses with a zone, and anything else. Throws on a malformed `allow`.
 */
export function addressFilter(allow: readonly string[]): (address: string) => boolean {
  const invalid = allow.find((network) => !isNetwork(network))
  if (invalid !== undefined) throw new Error(`Not an IP address or network: ${invalid}`)
  const isIn4 = (network: string) => isIPv4(network.split('/')[0]!)
  const isAllowed4 = createBlockList('ipv4', allow.filter(isIn4))
  const isAllowed6 = createBlockList(
    'ipv6',
    allow.filter((network) => !isIn4(network)),
  )
  return (address) => {
    const family = isIP(address)
    if (family === 4) return !isSpecial4(address) || isAllowed4(address)
    if (family === 0 || address.includes('%')) return false
    const allowed = isAllowed6(address) && !isMapped6(address)
    const embedded = embeddedIn(address)
    const isReachable = embedded?.alone || allowed || (isGlobal6(address) && !isSpecial6(address))
    return isReachable && !embedded?.addresses.some((one) => isSpecial4(one) && !(allowed && isAllowed4(one)))
  }
}

import { dotted, parseGroups } from '../../routers/kernel/ipv6-groups.ts'

export interface Embedded {
  /** Each place that may be the one: the address is as public as all of them. */
  addresses: string[]
  /** Whether the IPv6 address by itself says nothing: what it embeds is where a connection ends. */
  alone: boolean
}

type Groups = readonly number[]
interface Form {
  /** The groups that the address begins with. */
  begins: Groups
  embedded: (groups: Groups) => string[]
}

/** No host has such an address: beside another reading, this one is none. */
const isNowhere = (address: string) => address.startsWith('0.')

const last = ([, , , , , , g6, g7]: Groups) => [dotted(g6!, g7!)]

/**
 * RFC 6052, 2.2, with each length of a prefix below 64:ff9b:1::/48: which one a network uses is not known. Bits 64 to 71 are left
 * out.
 */
function byPrefix([, , , g3, g4, g5, g6, g7]: Groups): string[] {
  const [a, b] = [g4! & 0xff, g5!]
  const readings = [
    dotted(g3!, (a << 8) | (b >> 8)),
    dotted(((g3! & 0xff) << 8) | a, b),
    dotted((a << 8) | (b >> 8), ((b & 0xff) << 8) | (g6! >> 8)),
    dotted(g6!, g7!),
  ]
  const somewhere = readings.filter((reading) => !isNowhere(reading))
  return somewhere.length > 0 ? somewhere : readings
}

const forms: Form[] = [
  // IPv4-mapped, IPv4-translated (RFC 2765), IPv4-compatible; ::1 is none.
  { begins: [0, 0, 0, 0, 0, 0xffff], embedded: last },
  { begins: [0, 0, 0, 0, 0xffff, 0], embedded: last },
  { begins: [0, 0, 0, 0, 0, 0], embedded: (groups) => last(groups).filter((address) => !isNowhere(address)) },
  // NAT64: the well-known prefix (RFC 6052), and the one for local use (RFC 8215).
  { begins: [0x64, 0xff9b, 0, 0, 0, 0], embedded: last },
  { begins: [0x64, 0xff9b, 1], embedded: byPrefix },
  // 6to4 (RFC 3056); Teredo (RFC 4380): its server, and its client with inverted bits.
  { begins: [0x2002], embedded: ([, g1, g2]) => [dotted(g1!, g2!)] },
  {
    begins: [0x2001, 0],
    embedded: ([, , g2, g3, , , g6, g7]) => [dotted(g2!, g3!), dotted(g6! ^ 0xffff, g7! ^ 0xffff)],
  },
]

/** ISATAP (RFC 5214), below any prefix. */
const isIsatap = ([, , , , g4, g5]: Groups) => (g4! & 0xfcff) === 0 && g5 === 0x5efe

/** The IPv4 addresses in an IPv6 address without a zone; undefined where there is none. */
export function embeddedIn(address: string): Embedded | undefined {
  const groups = parseGroups(address)
  const form = forms.find(({ begins }) => begins.every((group, i) => groups[i] === group))
  const found = form?.embedded(groups) ?? []
  const addresses = isIsatap(groups) ? [...found, ...last(groups)] : found
  return addresses.length > 0 ? { addresses, alone: found.length > 0 } : undefined
}

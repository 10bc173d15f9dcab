import { isIPv6 } from 'node:net'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

/** In an hour, from one network address. */
export const MAX_MAILS_BY_SENDER = 20

/** Counts a mail requested from an address, in this process only; false above the limit. */
export function senderLimit(): (address: string) => Promise<boolean> {
  const limiter = new RateLimiterMemory({ points: MAX_MAILS_BY_SENDER, duration: 3600 })
  return (address) =>
    limiter.consume(networkOf(address)).then(
      () => true,
      (refused) => {
        if (refused instanceof RateLimiterRes) return false
        throw refused
      },
    )
}

/** The first 64 bits of an IPv6 address, as one subscriber has all addresses below; an IPv4 address as it is. */
function networkOf(address: string): string {
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

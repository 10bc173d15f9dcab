import { isIPv6 } from 'node:net'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

/** Mails an hour that one network address may ask for. */
export const MAILS_OF_A_SENDER = 20

/** Says whether a sender may ask for one more mail; counted in this process. */
export function senderLimit(): (address: string) => Promise<boolean> {
  const limiter = new RateLimiterMemory({ points: MAILS_OF_A_SENDER, duration: 3600 })
  return (address) =>
    limiter.consume(networkOf(address)).then(
      () => true,
      (refused) => {
        if (refused instanceof RateLimiterRes) return false
        throw refused
      },
    )
}

/** Whom an address stands for: of IPv6 the first 64 bits, as whoever has one address has all that share them. */
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

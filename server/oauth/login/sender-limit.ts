import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { networkOf } from '../../http/client-address.ts'

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

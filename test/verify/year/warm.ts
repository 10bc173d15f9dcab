import { send } from '../../process/service.ts'
import { demoToken } from '../demo.ts'
import { APPS, CLUBS } from './platform.ts'
import type { YearWorld } from './world.ts'

/**
 * As many tokens as a node remembers (server/tokens/verify.ts): 100,000 members send more on a day, the few who play here in half
 * a year.
 */
const TOKENS = 10_000
const AT_ONCE = 16

/** Fills the node's memory of tokens and of accesses, which would otherwise grow until it is full. */
export async function warm({ home, publicPort }: YearWorld) {
  let next = 0
  async function client() {
    for (let n = next++; n < TOKENS; n = next++) {
      const token = await demoToken(home, {
        client: `client-${n % APPS}`,
        member: `person-${n}`,
        organisation: `club-${n % CLUBS}`,
      })
      const headers = { host: 'apps.localhost', authorization: `Bearer ${token}` }
      const { status, text } = await send(publicPort, 'GET', '/v1/me/profile', { headers })
      if (status !== 200) throw new Error(`warm: ${status} ${text}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
}

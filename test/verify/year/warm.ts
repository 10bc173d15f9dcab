import { send } from '../../process/service.ts'
import { demoToken } from '../demo.ts'
import { publishTo } from './day.ts'
import { delivered } from './delivered.ts'
import { APPS, CLUBS, FAILING, RECEIVERS } from './platform.ts'
import type { YearWorld } from './world.ts'

/**
 * As many tokens as a node remembers (server/tokens/verify.ts): 100,000 members send more on a day, the few who play here in half
 * a year.
 */
const TOKENS = 10_000
/**
 * At once, as a platform does that begins. 60,000 deliveries, each over a connection of its own, left a worker the memory of the
 * first 8,000 (heap 13.3 MB, of the allocator 25 MB). Not warmed, a worker came to 24.6 MB of the allocator by day 210.
 */
const EVENTS = 10_000
const AT_ONCE = 16

/** Fills the node's memory of tokens and of accesses, which would otherwise grow until it is full, and what the worker allocates. */
export async function warm(world: YearWorld) {
  const { home, publicPort } = world
  await concurrently(TOKENS, async (n) => {
    const token = await demoToken(home, {
      client: `client-${n % APPS}`,
      member: `person-${n}`,
      organisation: `club-${n % CLUBS}`,
    })
    const headers = { host: 'apps.localhost', authorization: `Bearer ${token}` }
    const { status, text } = await send(publicPort, 'GET', '/v1/me/profile', { headers })
    if (status !== 200) throw new Error(`warm: ${status} ${text}`)
  })
  await concurrently(EVENTS, (n) => publishTo(world, FAILING + (n % (RECEIVERS - FAILING))))
  await delivered(world)
}

async function concurrently(count: number, run: (n: number) => Promise<void>) {
  let next = 0
  async function client() {
    for (let n = next++; n < count; n = next++) await run(n)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
}

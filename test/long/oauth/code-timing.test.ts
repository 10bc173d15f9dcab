import { afterAll, beforeAll, expect, it } from 'vitest'
import { anyEmail, startCodeWorld } from '../../oauth/code-world.ts'
import { createMember } from '../../oauth/members.ts'
import { id } from '../../support/tenant.ts'

let world: Awaited<ReturnType<typeof startCodeWorld>>
beforeAll(async () => {
  world = await startCodeWorld()
})
afterAll(() => world.close())

it('requesting a code takes as long for an address without a member', async () => {
  const { node } = await world.arrive()
  const took = { known: [] as number[], unknown: [] as number[] }
  for (let n = 0; n < 30; n++) {
    const known = anyEmail()
    await createMember(world.db, { email: known })
    for (const [kind, typed] of [
      ['known', known],
      ['unknown', anyEmail()],
    ] as const) {
      const start = performance.now()
      await node.send(id('interaction'), typed)
      took[kind].push(performance.now() - start)
    }
  }
  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!
  const ratio = median(took.known) / median(took.unknown)
  expect(ratio).toBeGreaterThan(0.5)
  expect(ratio).toBeLessThan(2)
})

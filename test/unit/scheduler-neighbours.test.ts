import { describe, expect, it } from 'vitest'
import { createSimulation } from './scheduler-simulation.ts'

const SECOND_MS = 1_000
const TIMEOUT_MS = 15_000

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
const large = 'x'.repeat(256 * 1024)

describe('an app with many subscriptions that never respond', () => {
  it.each([
    { count: 600, body: large, size: '256 KiB' },
    { count: 2_000, body: '{}', size: '2 bytes' },
  ])('does not delay the first delivery of another app by 500 ms: $count with bodies of $size', ({ count, body }) => {
    const world = createSimulation()
    for (const id of names('silent', count)) {
      world.subscribe(id, { ms: TIMEOUT_MS, delivers: false, app: 'hostile', body })
      world.publish(id, 5)
    }
    // At any time: while its share fills, while it is full, after the first attempts have failed.
    const neighbours = [0, 50, 500, 2_000, 5_000, 14_000, 16_000, 20_000, 30_000].map((at) => {
      const neighbour = world.subscribe(`at ${at}`, { ms: 20, delivers: true, body })
      world.at(at, () => world.publish(`at ${at}`))
      return neighbour
    })
    world.run(31 * SECOND_MS)
    const waits = neighbours.map(({ waits }) => waits[0])
    expect(waits).toHaveLength(9)
    for (const wait of waits) expect(wait).toBeLessThan(100)
  })
})

describe('an app with one subscription', () => {
  it('keeps its throughput beside an app with 500 busy ones', () => {
    const deliveredBeside = (count: number) => {
      const world = createSimulation()
      for (const id of names('busy', count)) {
        world.subscribe(id, { ms: 200, delivers: true, app: 'busy' })
        world.publish(id, 500)
      }
      const one = world.subscribe('one', { ms: 200, delivers: true })
      world.publish('one', 10_000)
      world.run(20 * SECOND_MS)
      return one.delivered
    }
    const alone = deliveredBeside(0)
    expect(alone).toBeGreaterThan(2_000)
    expect(deliveredBeside(500) / alone).toBeGreaterThan(0.8)
  })
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { chance, seed } from '../support/chance.ts'

const draws = (name: string) => {
  const draw = chance(name)
  return Array.from({ length: 1_000 }, () => draw(10))
}

it('chance draws the same again for the same name, something else for another, and each number about as often', () => {
  expect(draws('kills')).toEqual(draws('kills'))
  expect(draws('kills')).not.toEqual(draws('answers'))
  const counts = Array.from({ length: 10 }, (_, number) => draws('kills').filter((drawn) => drawn === number).length)
  expect(Math.min(...counts)).toBeGreaterThan(50)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1_000)
})

it('SEED seeds random values too, and nothing is seeded without it', () => {
  expect(fc.readConfigureGlobal().seed).toBe(process.env.SEED ? seed : undefined)
})

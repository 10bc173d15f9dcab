import { expect, it } from 'vitest'
import { InFlight } from '../../prisma/in-flight.ts'

it('what is under way has each item until it is removed, and removing it again removes no other', () => {
  const underWay = new InFlight<{ name: string }>()
  const names = () => underWay.items().map(({ name }) => name)
  const removeFirst = underWay.add({ name: 'first' })
  const removeSecond = underWay.add({ name: 'second' })
  expect([names(), underWay.size]).toEqual([['first', 'second'], 2])
  removeFirst()
  expect([names(), underWay.size]).toEqual([['second'], 1])
  const removeThird = underWay.add({ name: 'third' })
  removeFirst()
  expect([names().sort(), underWay.size]).toEqual([['second', 'third'], 2])
  removeSecond()
  removeThird()
  expect([names(), underWay.size]).toEqual([[], 0])
})

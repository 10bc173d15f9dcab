import { expect, it } from 'vitest'
import { isQuiet } from '../../verify/quiet.ts'

/** With these pressures, one each time it is asked: whether it is quiet, and for how many seconds it waited. */
async function waited(pressures: (number | undefined)[]) {
  const left = [...pressures]
  let ms = 0
  const quiet = await isQuiet(
    async () => left.shift(),
    async (pause) => {
      ms += pause
    },
  )
  return [quiet, ms / 1_000]
}

it('a machine is quiet below 5 % of CPU pressure', async () => {
  expect(await waited([4.99])).toEqual([true, 0])
})

it('a machine has a minute to become quiet', async () => {
  expect(await waited([40, 5, 4.9])).toEqual([true, 10])
  expect(await waited(Array(13).fill(5))).toEqual([false, 60])
})

it('a machine whose kernel tells no pressure is not quiet', async () => {
  expect(await waited([undefined])).toEqual([false, 0])
})

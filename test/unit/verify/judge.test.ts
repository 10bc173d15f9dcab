import { expect, it } from 'vitest'
import { judge } from '../../verify/judge.ts'
import type { Kind } from '../../verify/parts.ts'
import type { Ran } from '../../verify/run-commands.ts'

const figureOf = (value: number) => ({ name: 'get', value, unit: '×' })
const green: Ran = { end: 'green', figures: [figureOf(1)] }
const red: Ran = { end: 'red', why: 'get', figures: [figureOf(2)] }
const [QUIET, BUSY] = [true, false]

/** Each run ends as the next of `ends`, and the machine is as the next of `quiet`: before a run, and after it. */
async function judged(kind: Kind, ends: Ran[], quiet: boolean[] = []) {
  const left = { ends: [...ends], quiet: [...quiet] }
  const next = async <Item>(items: Item[]): Promise<Item> => {
    expect(items).not.toEqual([])
    return items.shift()!
  }
  const judged = await judge(
    kind,
    () => next(left.ends),
    () => next(left.quiet),
  )
  // All of them were asked for, and no more.
  expect(left).toEqual({ ends: [], quiet: [] })
  return judged
}

it('a part without chance runs once, whatever the machine does', async () => {
  expect(await judged('plain', [green])).toMatchObject({ outcome: 'passed', runs: 1 })
  expect(await judged('plain', [red])).toMatchObject({ outcome: 'failed', why: 'get', runs: 1 })
})

it('chance that was red is tried again: red twice is a fault, red once is flaky', async () => {
  expect(await judged('chance', [green])).toMatchObject({ outcome: 'passed', runs: 1 })
  expect(await judged('chance', [red, red])).toMatchObject({ outcome: 'failed', runs: 2 })
  expect(await judged('chance', [red, green])).toMatchObject({ outcome: 'flaky', why: 'get', runs: 2 })
})

it('figures are judged by the first run with a quiet machine before and after it', async () => {
  expect(await judged('figures', [green], [QUIET, QUIET])).toMatchObject({ outcome: 'passed', runs: 1 })
  const secondTime = await judged('figures', [red, green], [QUIET, BUSY, QUIET, QUIET])
  expect(secondTime).toEqual({ outcome: 'passed', runs: 2, figures: green.figures })
  const thirdTime = await judged('figures', [red, green], [BUSY, BUSY, QUIET, QUIET])
  expect(thirdTime).toMatchObject({ outcome: 'passed', runs: 2 })
})

it('figures that are red are a fault when a second quiet run confirms it, or none refutes it', async () => {
  expect(await judged('figures', [red, red], [QUIET, QUIET, QUIET, QUIET])).toMatchObject({
    outcome: 'failed',
    runs: 2,
  })
  expect(await judged('figures', [red, green], [QUIET, QUIET, QUIET, QUIET])).toMatchObject({ outcome: 'flaky' })
  const unconfirmed = await judged('figures', [red, green], [QUIET, QUIET, QUIET, BUSY, BUSY])
  expect(unconfirmed).toEqual({ outcome: 'failed', why: 'get', runs: 2, figures: red.figures })
})

it('figures are not judged when the machine is not quiet in three turns, of which a busy beginning takes only the first', async () => {
  const why = 'the machine was not quiet'
  const measured = await judged('figures', [red, red, green], [QUIET, BUSY, QUIET, BUSY, QUIET, BUSY])
  expect(measured).toEqual({ outcome: 'not judged', why, runs: 3, figures: green.figures })
  expect(await judged('figures', [red], [BUSY, BUSY, BUSY])).toEqual({
    outcome: 'not judged',
    why,
    runs: 1,
    figures: red.figures,
  })
})

it.each([
  ['late', 'failed'],
  ['stopped', 'stopped'],
  ['unfetched', 'not run'],
] as const)('a run that is %s is not repeated: %s', async (end, outcome) => {
  expect(await judged('chance', [{ end, why: 'so', figures: [] }])).toMatchObject({ outcome, why: 'so', runs: 1 })
  expect(await judged('figures', [{ end, figures: [] }], [QUIET])).toMatchObject({ outcome, runs: 1 })
})

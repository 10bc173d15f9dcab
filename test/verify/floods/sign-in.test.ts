import { expect, it } from 'vitest'
import { noteFigure } from '../noted-figure.ts'
import { playStrangers } from './strangers.ts'

it('20 members sign in within 2 s each in a minute in which 1,000 strangers behind the same proxy ask for codes', async () => {
  const { results, slowestMs } = await playStrangers({ strangers: 1_000, milliseconds: 60_000, pauseMs: 10_000 })
  noteFigure({ name: 'slowest sign-in', value: slowestMs, unit: 'ms', bound: 2_000 })
  expect(results.filter(({ signedIn }) => !signedIn)).toEqual([])
  expect(results.filter(({ ms }) => ms >= 2_000)).toEqual([])
}, 300_000)

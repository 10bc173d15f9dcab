import { expect, it } from 'vitest'
import { playStrangers } from './strangers.ts'

// A minute of 1,000 strangers, with the members' times, is in test/long/attack.
it('20 members sign in while 200 strangers behind the same proxy ask for codes', async () => {
  const { results } = await playStrangers({ strangers: 200, milliseconds: 3_000, pauseMs: 2_000 })
  expect(results.filter(({ signedIn }) => !signedIn)).toEqual([])
}, 180_000)

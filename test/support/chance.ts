import { randomInt } from 'node:crypto'

/** What chance decides in a test follows from it. `npm run verify` sets SEED, and sets it again to repeat a failure. */
export const seed = Number(process.env.SEED ?? randomInt(2 ** 31))

/** Draws whole numbers from 0 to below a limit; its sequence depends on the seed and the name alone (mulberry32). */
export function chance(name: string): (below: number) => number {
  let state = [...name].reduce((sum, character) => Math.imul(sum, 31) + character.codePointAt(0)!, seed)
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

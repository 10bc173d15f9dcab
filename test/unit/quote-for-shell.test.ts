import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { quoteForShell } from '../../server/portal/pages/quote-for-shell.ts'
import { seed } from '../support/chance.ts'
import { times } from '../support/rounds.ts'

const hostile = fc.constantFrom("'", '"', '\\', '$(id)', '`id`', ';', '&', '|', '>', '\n', ' ', '!', '*', 'a')

it('a word quoted for a shell is that word to it, and runs nothing', () => {
  const words = fc.array(hostile, { maxLength: 12 }).map((parts) => parts.join(''))
  const holds = (word: string) => {
    expect(execFileSync('sh', ['-c', `printf %s ${quoteForShell(word)}`], { encoding: 'utf8' })).toBe(word)
  }
  fc.assert(fc.property(words, holds), { numRuns: times(300, 30), seed })
})

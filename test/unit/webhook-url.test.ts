import { expect, it } from 'vitest'
import { url } from '../../routers/webhooks/rules.ts'

it('an address of more than 2,048 characters is refused before it is parsed', () => {
  // Parsed, each would be refused a second time.
  for (const length of [2_049, 16_384]) {
    const refused = url.safeParse('https://['.padEnd(length, '\u4e00')).error?.issues
    expect(refused?.map(({ code }) => code)).toEqual(['too_big'])
  }
  expect(url.safeParse('https://a/'.padEnd(2_048, 'a')).success).toBe(true)
})

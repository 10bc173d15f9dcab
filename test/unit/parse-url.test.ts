import { expect, it } from 'vitest'
import { parseUrl } from '../../prisma/parse-url.ts'
import { url } from '../../routers/webhooks/rules.ts'
import { parseReceiver } from '../../server/outgoing/receiver.ts'

/** V8 compiles a caller after some 5,000 calls. */
const CALLS = 20_000
const addresses = ['https://bücher.example/', 'https://example.org/é', 'https://例え.example/', 'https://example.org/']

it.each([
  ['parseUrl', parseUrl],
  ["a receiver's address", parseReceiver],
  ["a webhook's url", (text: string) => url.safeParse(text).data],
])('%s accepts characters beyond ASCII however often it is called', (_, read) => {
  const refused = Array.from({ length: CALLS }, (_, n) => addresses[n % addresses.length]!).filter(
    (text) => !read(text),
  )
  expect(refused).toEqual([])
})

it('parseUrl returns null for an invalid URL', () => {
  expect(['', 'example.org', 'https://', 'https://[::1', 'http://a b/'].map(parseUrl)).toEqual(Array(5).fill(null))
})

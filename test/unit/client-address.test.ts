import type { IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clientAddress, toNetwork } from '../../server/http/client-address.ts'
import { times } from '../support/rounds.ts'

const request = (remoteAddress: string, forwardedFor?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwardedFor } }) as unknown as IncomingMessage

test.each<{ trusted: string[]; socket: string; forwardedFor?: string; address: string }>([
  { trusted: [], socket: '192.0.2.1', forwardedFor: '198.51.100.7', address: '192.0.2.1' },
  { trusted: ['192.0.2.1'], socket: '192.0.2.1', address: '192.0.2.1' },
  { trusted: ['192.0.2.1'], socket: '192.0.2.1', forwardedFor: '198.51.100.7', address: '198.51.100.7' },
  { trusted: ['192.0.2.0/24'], socket: '::ffff:192.0.2.1', forwardedFor: '198.51.100.7', address: '198.51.100.7' },
  { trusted: ['192.0.2.1'], socket: '192.0.2.2', forwardedFor: '198.51.100.7', address: '192.0.2.2' },
  // The client wrote the first entry itself.
  { trusted: ['192.0.2.1'], socket: '192.0.2.1', forwardedFor: '203.0.113.9, 198.51.100.7', address: '198.51.100.7' },
  {
    trusted: ['192.0.2.1', '10.0.0.0/8'],
    socket: '192.0.2.1',
    forwardedFor: '198.51.100.7, 10.1.2.3',
    address: '198.51.100.7',
  },
  { trusted: ['2001:db8::/32'], socket: '2001:db8::1', forwardedFor: '2001:470::7', address: '2001:470::7' },
  { trusted: ['192.0.2.1'], socket: '192.0.2.1', forwardedFor: 'unknown', address: '192.0.2.1' },
  { trusted: ['192.0.2.1'], socket: '192.0.2.1', forwardedFor: '198.51.100.7:5678', address: '198.51.100.7' },
  { trusted: ['192.0.2.1'], socket: '192.0.2.1', forwardedFor: '[2001:470::7]:443', address: '2001:470::7' },
  { trusted: ['192.0.2.1'], socket: '192.0.2.1', forwardedFor: '[2001:470::7]', address: '2001:470::7' },
  { trusted: ['192.0.2.1'], socket: '192.0.2.1', forwardedFor: '2001:470::7:443', address: '2001:470::7:443' },
  {
    trusted: ['192.0.2.1', '10.0.0.0/8'],
    socket: '192.0.2.1',
    forwardedFor: '203.0.113.9:1, 198.51.100.7:65535 ,10.1.2.3:80',
    address: '198.51.100.7',
  },
  { trusted: ['192.0.2.1'], socket: '192.0.2.1', forwardedFor: '', address: '192.0.2.1' },
])('behind $trusted, socket $socket and X-Forwarded-For $forwardedFor are client $address', (row) => {
  expect(clientAddress(row.trusted)(request(row.socket, row.forwardedFor))).toBe(row.address)
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:c000:0201', '192.0.2.1'],
  ['64:ff9b::192.0.2.1', '192.0.2.1'],
  ['64:ff9b::c000:202', '192.0.2.2'],
  ['64:ff9b:1::c000:201', '64:ff9b:1:0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
])('%s is counted as network %s', (address, network) => {
  expect(toNetwork(address)).toBe(network)
})

test('a client is the same however its proxies write its address', () => {
  const port = fc.nat(65_535).map((number) => `:${number}`)
  const four = fc.ipV4().chain((address) => fc.tuple(fc.constant(address), fc.constantFrom('', ':443')))
  const six = fc.tuple(fc.ipV6(), port)
  const shapes = fc.oneof(
    four.map(([address, behind]) => [address, `${address}${behind}`] as const),
    six.map(([address, behind]) => [address, `[${address}]${behind}`] as const),
    six.map(([address]) => [address, `[${address}]`] as const),
    six.map(([address]) => [address, address] as const),
  )
  const comma = fc.constantFrom(',', ', ', ' , ')
  fc.assert(
    fc.property(fc.array(shapes, { maxLength: 3 }), shapes, comma, (before, [address, shape], comma) => {
      const list = [...before.map(([, one]) => one), shape].join(comma)
      expect(clientAddress(['192.0.2.1'])(request('192.0.2.1', list))).toBe(address)
    }),
    { numRuns: times(20_000, 500) },
  )
})

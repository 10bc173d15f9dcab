import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressFilter, isNetwork } from '../../server/outgoing/addresses.ts'
import { createResolve } from '../../server/outgoing/resolve.ts'
import { times } from '../support/rounds.ts'
import type { Records } from './name-server.ts'
import { startNameServer } from './name-server.ts'
import { ending } from './sending.ts'

const isAllowed = addressFilter([])

describe('an address that is not public', () => {
  it.each([
    ['0.0.0.0', 'this host'],
    ['0.1.2.3', 'this network'],
    ['10.0.0.1', 'private'],
    ['10.255.255.255', 'private'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['168.63.129.16', "Azure's host services"],
    ['169.254.0.1', 'link-local'],
    ['169.254.169.254', 'metadata'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.9', 'protocol assignments'],
    ['192.0.2.1', 'documentation'],
    ['192.31.196.1', 'AS112'],
    ['192.52.193.1', 'AMT'],
    ['192.88.99.1', '6to4 relay'],
    ['192.168.0.1', 'private'],
    ['192.175.48.1', 'AS112'],
    ['198.18.0.1', 'benchmarks'],
    ['198.19.255.255', 'benchmarks'],
    ['198.51.100.1', 'documentation'],
    ['203.0.113.1', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'IPv4-mapped'],
    ['::ffff:a9fe:a9fe', 'IPv4-mapped metadata'],
    ['::10.0.0.1', 'IPv4-compatible, private'],
    ['::ffff:0:10.0.0.1', 'IPv4-translated, private'],
    ['64:ff9b::7f00:1', 'NAT64 of loopback'],
    ['64:ff9b::169.254.169.254', 'NAT64 of metadata'],
    ['64:ff9b::', 'NAT64 of this host'],
    ['64:ff9b::1:808:808', 'below no prefix of NAT64'],
    ['64:ff9b:1::a9fe:a9fe', 'local NAT64 of metadata'],
    ['64:ff9b:1:abcd::10.0.0.1', 'local NAT64 with a subnet, private'],
    ['64:ff9b:1:a9fe:a9:fe00::', 'local NAT64 by /48 of metadata'],
    ['64:ff9b:1:a9fe:a9:fe00:808:808', 'local NAT64 by /48 of metadata, with a public suffix'],
    ['64:ff9b:1:a:0:100::', 'local NAT64 by /56 of 10.0.1.0'],
    ['64:ff9b:1:0:a:1:200::', 'local NAT64 by /64 of 10.0.1.2'],
    ['64:ff9b:1::', 'local NAT64 of nothing'],
    ['64:ff9b:2::808:808', 'next to local NAT64'],
    ['2001::1', 'Teredo of this host'],
    ['2001:0:808:808:0:0:f5ff:fffe', 'Teredo of 10.0.0.1, by a public server'],
    ['2001:0:a00:1:0:0:f7f7:f7f7', 'Teredo of 8.8.8.8, by a private server'],
    ['2002:a9fe:a9fe::1', '6to4 of metadata'],
    ['2002:808:808::5efe:a00:1', 'ISATAP, private, below a public 6to4'],
    ['2a00:1450:4001::5efe:10.0.0.1', 'ISATAP, private'],
    ['2a00:1450:4001::200:5efe:a00:1', 'ISATAP, private, as a global identifier'],
    ['fe80::5efe:8.8.8.8', 'ISATAP, public, below a link-local prefix'],
    ['2001:2::1', 'benchmarks'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::', '6to4 of loopback'],
    ['2620:4f:8000::1', 'AS112'],
    ['3fff::1', 'documentation'],
    ['4000::1', 'unassigned'],
    ['fd00:ec2::254', "Amazon's metadata"],
    ['fe80::1%eth0', 'link-local, with a zone'],
    ['2a00:1450:4001::1%1', 'public, with a zone'],
    ['', 'not an address'],
    ['2130706433', 'not an address'],
    ['[2a00:1450:4001::1]', 'not an address'],
    ['8.8.8.8/32', 'not an address'],
  ])('is refused: %s (%s)', (address) => {
    expect(isAllowed(address)).toBe(false)
  })
})

describe('the public addresses', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.1',
    '168.63.129.15',
    '168.63.129.17',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2001:200::1',
    '2606:4700::1111',
    '2a00:1450:4001::1',
    '3ffe:ffff::1',
    // As public as what they embed.
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '::8.8.8.8',
    '::ffff:0:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '64:FF9B::808:808',
    '64:ff9b:1::8.8.8.8',
    '64:ff9b:1:808:8:800::',
    '2002:808:808::1',
    '2001:0:808:808:0:0:f7f7:f7f7',
    '2a00:1450:4001::5efe:8.8.8.8',
  ])('include %s', (address) => {
    expect(isAllowed(address)).toBe(true)
  })
})

describe('the addresses that the operator allows', () => {
  const allowed = addressFilter(['127.0.0.1', '10.20.0.0/16', '::1', 'fd12:3456::/32'])

  it.each(['127.0.0.1', '10.20.0.0', '10.20.255.255', '::1', '0:0:0:0:0:0:0:1', 'fd12:3456:ffff::1', '8.8.8.8'])(
    'include %s',
    (address) => {
      expect(allowed(address)).toBe(true)
    },
  )

  it.each([
    '127.0.0.2',
    '10.19.255.255',
    '10.21.0.0',
    '169.254.169.254',
    '::2',
    'fd12:3457::1',
    '::1%lo',
    // Allowed IPv4 addresses, embedded in IPv6.
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::7f00:1',
    '64:ff9b::7f00:1',
  ])('do not include %s', (address) => {
    expect(allowed(address)).toBe(false)
  })

  it('never include private IPv4-mapped addresses or zones, even when everything is allowed', () => {
    const all = addressFilter(['0.0.0.0/0', '::/0'])
    expect(['10.0.0.1', '::1', 'fe80::1'].map(all)).toEqual([true, true, true])
    expect(['::ffff:10.0.0.1', 'fe80::1%1', '2a00::1%1'].map(all)).toEqual([false, false, false])
  })

  it.each([
    ['64:ff9b::/96', '64:ff9b::a14:1'],
    ['64:ff9b:1::/48', '64:ff9b:1::a14:1'],
    ['2002::/16', '2002:a14:1::1'],
    ['fd00::/8', 'fd00::5efe:a14:1'],
  ])('include what embeds a private address where both are allowed: %s', (network, address) => {
    expect(addressFilter([network])(address)).toBe(false)
    expect(addressFilter(['10.20.0.0/16'])(address)).toBe(false)
    expect(addressFilter([network, '10.20.0.0/16'])(address)).toBe(true)
  })

  it('decide by the embedded address, however it is embedded and written', () => {
    const octet = fc.oneof(fc.nat(255), fc.constantFrom(10, 127, 169, 172, 192, 254, 0))
    const four = fc.tuple(octet, octet, octet, octet)
    const group = fc.nat(0xffff)
    const hex = (...numbers: number[]) => numbers.map((number) => number.toString(16)).join(':')
    const embed: ((pair: [number, number], more: number[]) => string)[] = [
      (pair) => `::ffff:${hex(...pair)}`,
      (pair) => `0:0:0:0:0:FFFF:${hex(...pair)}`,
      (pair) => `::ffff:0:${hex(...pair)}`,
      (pair) => `64:ff9b::${hex(...pair)}`,
      (pair) => `0064:ff9b:0:0:0:0:${hex(...pair)}`,
      (pair) => `64:ff9b:1::${hex(...pair)}`,
      (pair, more) => `2002:${hex(...pair, ...more.slice(0, 3))}:1:2`,
      ([high, low], more) => `2001:0:808:808:${hex(more[0]!, 1, high ^ 0xffff, low ^ 0xffff)}`,
      (pair, more) => `2001:0:${hex(...pair, more[0]!, 1)}:f7f7:f7f7`,
      (pair, more) => `2a00:${hex(...more.slice(0, 3))}:0:5efe:${hex(...pair)}`,
      (pair, more) => `2a00:${hex(...more.slice(0, 3))}:200:5efe:${hex(...pair)}`,
    ]
    const networks = addressFilter(['64:ff9b::/96', '64:ff9b:1::/48', '::/64', '2000::/3'])
    fc.assert(
      fc.property(
        four,
        fc.array(group, { minLength: 3, maxLength: 3 }),
        fc.nat(embed.length - 1),
        (octets, more, at) => {
          const [a, b, c, d] = octets
          const plain = octets.join('.')
          const address = embed[at]!([(a << 8) | b, (c << 8) | d], more)
          expect(isAllowed(address)).toBe(isAllowed(plain))
          // An operator who allows the IPv6 network alone has not allowed what is behind it.
          expect(networks(address)).toBe(isAllowed(plain))
        },
      ),
      { numRuns: times(20_000, 1_000) },
    )
  })

  it.each(['127.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '10.1.2.3/32', '::1', 'fd00::/8', '::/0', '2001:db8::1/128'])(
    'may be given as %j',
    (network) => {
      expect(isNetwork(network)).toBe(true)
    },
  )

  it.each([
    '',
    'receiver.example.org',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    'fd00::/129',
    'fe80::1%eth0',
    '::ffff:127.0.0.1',
    '::ffff:0:0/96',
  ])('may not be given as %j', (network) => {
    expect(isNetwork(network)).toBe(false)
    expect(() => addressFilter([network])).toThrow('Not an IP address or network')
  })
})

/** No query is repeated just because the machine is busy. */
const patient = { queryMs: 60_000, totalMs: 100_000 }

type Answers = Record<string, Records>

/** A resolver with a name server and a system lookup of its own, which both record what they were asked. */
async function startNaming(records: Answers, system: Record<string, string[]> = {}) {
  const server = ending(await startNameServer((name, type) => records[`${type} ${name}`] ?? 'no such name'))
  const lookedUp: string[] = []
  const lookup = async (name: string) => {
    lookedUp.push(name)
    const found = system[name]
    if (!found) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' })
    return found.map((address) => ({ address, family: 4 }))
  }
  const resolve = createResolve({ servers: [server.address], lookup, ...patient })
  return { server, lookedUp, lookup, resolve }
}

describe('a name', () => {
  it('resolves to all its IPv4 and IPv6 addresses', async () => {
    const { resolve, lookedUp } = await startNaming({
      'A two.example': ['192.0.2.1', '192.0.2.2'],
      'AAAA two.example': ['2001:db8::1', '::1'],
      'A four.example': ['192.0.2.4'],
      'AAAA four.example': [],
      'AAAA six.example': ['2001:db8::6'],
      'A six.example': [],
    })
    expect(await resolve('two.example')).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1', '::1'])
    expect(await resolve('four.example')).toEqual(['192.0.2.4'])
    expect(await resolve('six.example')).toEqual(['2001:db8::6'])
    expect(lookedUp).toEqual([])
  })

  it.each(['silence', 'failure'] as const)(
    'resolves to its IPv4 addresses when the IPv6 query ends in %s',
    async (other) => {
      const { resolve, server } = await startNaming({ 'A half.example': ['192.0.2.1'], 'AAAA half.example': other })
      expect(await resolve('half.example')).toEqual(['192.0.2.1'])
      // Asked once each: it did not wait for a second query.
      expect(server.asked.toSorted()).toEqual(['A half.example', 'AAAA half.example'])
    },
  )

  it('is queried once for concurrent callers, and again after a failure', async () => {
    const records: Answers = { 'A one.example': ['192.0.2.1'], 'AAAA one.example': [] }
    const { resolve, server } = await startNaming(records)
    await Promise.all(Array.from({ length: 20 }, () => resolve('one.example')))
    records['A one.example'] = ['127.0.0.1']
    expect(await resolve('one.example')).toEqual(['192.0.2.1'])
    expect(server.asked.toSorted()).toEqual(['A one.example', 'AAAA one.example'])

    await expect(resolve('later.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    records['A later.example'] = ['192.0.2.7']
    records['AAAA later.example'] = []
    expect(await resolve('later.example')).toEqual(['192.0.2.7'])
  })

  it('is looked up by the system when the servers do not know it', async () => {
    const { resolve, lookedUp } = await startNaming(
      { 'A none.example': [], 'AAAA none.example': [] },
      { inner: ['10.0.0.1'] },
    )
    expect(await resolve('inner')).toEqual(['10.0.0.1'])
    await expect(resolve('none.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await expect(resolve('nowhere.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    expect(lookedUp).toEqual(['inner', 'none.example', 'nowhere.example'])
  })

  it('is looked up by the system when no server can be reached', async () => {
    const { lookup } = await startNaming({}, { 'a.example': ['192.0.2.1'] })
    const server = await startNameServer(() => 'silence')
    await server.close()
    const resolve = createResolve({ servers: [server.address], lookup })
    expect(await resolve('a.example')).toEqual(['192.0.2.1'])
  })

  it('is not looked up by the system when its servers fail, as that would block a thread', async () => {
    const { resolve, lookedUp } = await startNaming({ 'A bad.example': 'failure', 'AAAA bad.example': 'failure' })
    await expect(resolve('bad.example')).rejects.toMatchObject({ code: 'ESERVFAIL' })
    expect(lookedUp).toEqual([])
  })

  it('delays no other name when its servers are dead', async () => {
    const dead = Array.from({ length: 50 }, (_, n) => `dead${n}.example`)
    const { resolve, lookedUp } = await startNaming({
      'A live.example': ['192.0.2.1'],
      'AAAA live.example': [],
      ...Object.fromEntries(dead.flatMap((name) => [`A ${name}`, `AAAA ${name}`]).map((key) => [key, 'silence'])),
    })
    let ended = 0
    const count = () => void ended++
    for (const name of dead) resolve(name).then(count, count)
    expect(await resolve('live.example')).toEqual(['192.0.2.1'])
    expect(ended).toBe(0)
    expect(lookedUp).toEqual([])
  })

  it('times out when its servers are dead, without a system lookup', async () => {
    const { server, lookup, lookedUp } = await startNaming({
      'A dead.example': 'silence',
      'AAAA dead.example': 'silence',
    })
    const resolve = createResolve({ servers: [server.address], lookup, queryMs: 60_000, totalMs: 500 })
    const error = await resolve('dead.example').catch((error) => error)
    expect(error.code).toMatch(/^E(?:TIMEOUT|CANCELLED)$/)
    expect(server.asked.toSorted()).toEqual(['A dead.example', 'AAAA dead.example'])
    expect(lookedUp).toEqual([])
  })

  it('times out while the system looks up another name', async () => {
    const { server } = await startNaming({})
    const release: (() => void)[] = []
    const lookup = (name: string) =>
      new Promise<{ address: string; family: number }[]>((found) => {
        release.push(() => found([{ address: `192.0.2.${name.length}`, family: 4 }]))
      })
    const resolve = createResolve({ servers: [server.address], lookup, totalMs: 1_000 })
    const first = resolve('a')
    await expect.poll(() => release.length).toBe(1)
    await expect(resolve('bb')).rejects.toMatchObject({ code: 'ETIMEOUT' })
    expect(release).toHaveLength(1)
    release[0]!()
    expect(await first).toEqual(['192.0.2.1'])
  })

  it.each(['localhost', 'localhost.', 'LOCALHOST', 'app.localhost', 'a.b.localhost.'])(
    'resolves to 127.0.0.1 without any query: %s',
    async (name) => {
      const { resolve, server, lookedUp } = await startNaming({ [`A ${name}`]: ['8.8.8.8'] })
      expect(await resolve(name)).toEqual(['127.0.0.1'])
      expect([...server.asked, ...lookedUp]).toEqual([])
    },
  )
})

import { describe, expect, it } from 'vitest'
import { addressFilter, isNetwork } from '../../server/webhooks/send/addresses.ts'

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
    ['::ffff:8.8.8.8', 'IPv4-mapped public address'],
    ['64:ff9b::7f00:1', 'NAT64'],
    ['2001::1', 'Teredo'],
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

  it('never include IPv4-mapped addresses or zones, even when everything is allowed', () => {
    const all = addressFilter(['0.0.0.0/0', '::/0'])
    expect(['10.0.0.1', '::1', 'fe80::1'].map(all)).toEqual([true, true, true])
    expect(['::ffff:10.0.0.1', '::ffff:8.8.8.8', 'fe80::1%1'].map(all)).toEqual([false, false, false])
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

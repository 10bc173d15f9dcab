import { describe, expect, it } from 'vitest'
import { addressFilter, isNetwork } from '../../server/webhooks/send/addresses.ts'

const isPublic = addressFilter([])

describe('of addresses', () => {
  it.each([
    ['0.0.0.0', 'this host'],
    ['0.1.2.3', 'this network'],
    ['10.0.0.1', 'private'],
    ['10.255.255.255', 'private'],
    ['100.64.0.1', 'shared by a carrier'],
    ['100.100.100.200', "Alibaba's metadata"],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['168.63.129.16', "Azure's, for its guests"],
    ['169.254.0.1', 'link'],
    ['169.254.169.254', 'metadata'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.9', 'protocol assignments'],
    ['192.0.0.192', "Oracle's metadata"],
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
    ['0:0:0:0:0:0:0:1', 'loopback, written out'],
    ['::7f00:1', 'compatible IPv4'],
    ['::ffff:127.0.0.1', 'mapped IPv4'],
    ['::ffff:7f00:1', 'mapped IPv4, in hexadecimal'],
    ['0:0:0:0:0:ffff:a9fe:a9fe', 'mapped metadata, written out'],
    ['::ffff:8.8.8.8', 'a mapped public address'],
    ['64:ff9b::7f00:1', 'NAT64'],
    ['64:ff9b:1::1', 'local NAT64'],
    ['100::1', 'discarded'],
    ['2001::1', 'Teredo'],
    ['2001:2::1', 'benchmarks'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::', '6to4 of loopback'],
    ['2620:4f:8000::1', 'AS112'],
    ['3fff::1', 'documentation'],
    ['4000::1', 'not given out'],
    ['5f00::1', 'segment routing'],
    ['fc00::1', 'private'],
    ['fd00:ec2::254', "Amazon's metadata"],
    ['fe80::1', 'link'],
    ['fe80::1%eth0', 'link, with a zone'],
    ['2a00:1450:4001::1%1', 'public, with a zone'],
    ['fec0::1', 'site'],
    ['ff02::1', 'multicast'],
    ['', 'no address'],
    ['localhost', 'no address'],
    ['127.1', 'no address'],
    ['0x7f000001', 'no address'],
    ['2130706433', 'no address'],
    ['[2a00:1450:4001::1]', 'no address'],
    ['8.8.8.8/32', 'no address'],
  ])('%s is not connected to: %s', (address) => {
    expect(isPublic(address)).toBe(false)
  })

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
  ])('%s is', (address) => {
    expect(isPublic(address)).toBe(true)
  })
})

describe('what the operator allows', () => {
  const allowed = addressFilter(['127.0.0.1', '10.20.0.0/16', '::1', 'fd12:3456::/32'])

  it.each(['127.0.0.1', '10.20.0.0', '10.20.255.255', '::1', '0:0:0:0:0:0:0:1', 'fd12:3456:ffff::1', '8.8.8.8'])(
    'is connected to: %s',
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
    // The IPv4 addresses of the list, in the clothes of IPv6 ones.
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::7f00:1',
    '64:ff9b::7f00:1',
  ])('does not go further: %s', (address) => {
    expect(allowed(address)).toBe(false)
  })

  it('never is an IPv4 address inside an IPv6 one, even where everything is allowed', () => {
    const all = addressFilter(['0.0.0.0/0', '::/0'])
    expect(['10.0.0.1', '::1', 'fe80::1'].map(all)).toEqual([true, true, true])
    expect(['::ffff:10.0.0.1', '::ffff:8.8.8.8', 'fe80::1%1'].map(all)).toEqual([false, false, false])
  })

  it.each(['127.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '10.1.2.3/32', '::1', 'fd00::/8', '::/0', '2001:db8::1/128'])(
    'may be written as %s',
    (network) => {
      expect(isNetwork(network)).toBe(true)
    },
  )

  it.each([
    '',
    ' ',
    'localhost',
    'receiver.example.org',
    '127.1',
    '127.0.0.01',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    '10.*',
    'fd00::/129',
    '[::1]',
    'fe80::1%eth0',
    '::ffff:127.0.0.1',
    '::ffff:0:0/96',
  ])('may not be written as %s', (network) => {
    expect(isNetwork(network)).toBe(false)
    expect(() => addressFilter([network])).toThrow('Not an IP address or network')
  })
})

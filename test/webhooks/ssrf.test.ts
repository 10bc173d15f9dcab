import { describe, expect, it } from 'vitest'
import { startInternalService } from './internal-service.ts'
import { startReceiver } from './receiver.ts'
import { ending, message, senderTo, unanswered } from './sending.ts'

const loopback = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '2130706433',
  '0177.0.0.1',
  '017700000001',
  '0x7f000001',
  '0x7f.0.0.1',
  '0x7f.1',
  '①②⑦.⓪.⓪.①',
  '１２７.0.0.1',
  '127。0。0。1',
  '127．0．0｡1',
  '%31%32%37.0.0.1',
  '127.0.0.\u00ad1',
  'localhost',
  'localhost.',
  'LOCALHOST',
  'ｌｏｃａｌｈｏｓｔ',
  'lo\u00adcalhost',
  'app.localhost',
]

const notPublic = [
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '168.63.129.16',
  '100.100.100.200',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[ff02::1]',
]

describe('an internal address', () => {
  it('is not connected to in any notation', async () => {
    const internal = await startInternalService()
    const sender = senderTo({ ca: '' }, { allow: [] })
    for (const host of [...loopback, ...notPublic]) {
      const result = await sender.send(message(`https://${host}:${internal.port}/`))
      expect([host, result]).toEqual([host, unanswered('address not public')])
    }
    expect(internal.connections()).toBe(0)
  })

  it('would be reached in each of these notations if it were allowed', async () => {
    const internal = await startInternalService()
    const sender = senderTo({ ca: '' })
    for (const [index, host] of loopback.entries()) {
      const { error } = await sender.send(message(`https://${host}:${internal.port}/`))
      expect([host, error, internal.connections()]).toEqual([host, 'ECONNRESET', index + 1])
    }
  })

  it('is not connected to when it is disguised in a url', async () => {
    const internal = await startInternalService()
    const sender = senderTo({ ca: '' }, { allow: [] })
    for (const [url, error] of [
      [`https://example.org@127.0.0.1:${internal.port}/`, 'invalid url'],
      [`https://example.org:443@127.0.0.1:${internal.port}/`, 'invalid url'],
      [`https://127.0.0.1:${internal.port}#@example.org/`, 'address not public'],
      [`https://127.0.0.1:${internal.port}?@example.org/`, 'address not public'],
      [`https:\\\\127.0.0.1:${internal.port}\\@example.org/`, 'address not public'],
      [`https:127.0.0.1:${internal.port}/`, 'address not public'],
      [` https://127.0.0.1:${internal.port}/`, 'address not public'],
      [`https://127.0.0.1\t:${internal.port}/`, 'address not public'],
      [`https://[fe80::1%25lo]:${internal.port}/`, 'invalid url'],
      [`https://[::1%lo]:${internal.port}/`, 'invalid url'],
      [`https://127.0.0.1%00.example.org:${internal.port}/`, 'invalid url'],
      [`http://127.0.0.1:${internal.port}/`, 'invalid url'],
      [`ftp://127.0.0.1:${internal.port}/`, 'invalid url'],
      [`gopher://127.0.0.1:${internal.port}/_`, 'invalid url'],
    ] as const) {
      expect([url, await sender.send(message(url))]).toEqual([url, unanswered(error)])
    }
    expect(internal.connections()).toBe(0)
  })
})

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('with status %i is not followed, even to an allowed address', async (status) => {
    const internal = await startInternalService()
    const location = `https://127.0.0.1:${internal.port}/`
    const receiver = ending(
      await startReceiver({ answer: (_received, response) => response.writeHead(status, { location }).end() }),
    )
    const result = await senderTo(receiver).send(message(receiver.url()))
    expect(result).toMatchObject({ status, error: `redirect ${status}` })
    expect(internal.connections()).toBe(0)
  })
})

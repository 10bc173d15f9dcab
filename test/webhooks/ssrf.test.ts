import { describe, expect, it } from 'vitest'
import { createResolve } from '../../server/outgoing/resolve.ts'
import { startInternalService } from './internal-service.ts'
import { startNameServer } from './name-server.ts'
import { startReceiver } from './receiver.ts'
import { elsewhere, ending, message, senderTo, unanswered } from './sending.ts'

/** How a url may name this machine or its network; addresses.test.ts has what is not public. */
const notations = [
  ...['127.0.0.1', '127.0.0.1.', '127.1', '2130706433', '0177.0.0.1', '0x7f.1', '①②⑦.⓪.⓪.①', '%31%32%37.0.0.1'],
  ...['localhost', 'localhost.', 'LOCALHOST', 'ｌｏｃａｌｈｏｓｔ', 'app.localhost'],
  ...['0', '169.254.169.254', '0xa9fea9fe', '[::]', '[::1]', '[::ffff:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[fe80::1]'],
]

describe('an internal address', () => {
  it('is not connected to in any notation', async () => {
    const internal = await startInternalService()
    const sender = senderTo({ ca: '' }, { allow: [] })
    for (const host of notations) {
      const result = await sender.send(message(`https://${host}:${internal.port}/`))
      expect([host, result]).toEqual([host, unanswered('address not public')])
    }
    expect(internal.connections()).toBe(0)
  })

  it('is not connected to when it is disguised in a url', async () => {
    const internal = await startInternalService()
    const sender = senderTo({ ca: '' }, { allow: [] })
    for (const [url, error] of [
      [`https://example.org@127.0.0.1:${internal.port}/`, 'invalid url'],
      [`https://127.0.0.1:${internal.port}#@example.org/`, 'address not public'],
      [`https:\\\\127.0.0.1:${internal.port}\\@example.org/`, 'address not public'],
      [` https://127.0.0.1:${internal.port}/`, 'address not public'],
      [`https://[fe80::1%25lo]:${internal.port}/`, 'invalid url'],
      [`https://127.0.0.1%00.example.org:${internal.port}/`, 'invalid url'],
      [`http://127.0.0.1:${internal.port}/`, 'invalid url'],
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

const name = 'hooks.example.org'

/** A receiver at an allowed address, and an internal service on the same port of another address. */
async function startBesideInternal() {
  const receiver = ending(await startReceiver({ names: [name] }))
  return { receiver, internal: await startInternalService(receiver.port, elsewhere) }
}

/** No query is repeated just because the machine is busy. */
const patient = { queryMs: 60_000, totalMs: 100_000 }

describe('a name with an internal address', () => {
  it.each([
    ['alone', ['127.0.0.2'], []],
    ['alone, over IPv6', [], ['::1']],
    ['beside an allowed one', ['127.0.0.1', '127.0.0.2'], []],
    ['over IPv6, beside an allowed one', ['127.0.0.1'], ['::1']],
    ['after four allowed ones', ['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.2'], []],
  ])('is refused: %s', async (_how, A, AAAA) => {
    const { receiver, internal } = await startBesideInternal()
    const server = ending(await startNameServer((_name, type) => (type === 'A' ? A : AAAA)))
    const sender = senderTo(receiver, { resolve: createResolve({ servers: [server.address], ...patient }) })
    expect(await sender.send(message(receiver.url('/', name)))).toEqual(unanswered('address not public'))
    expect([receiver.connections(), internal.connections()]).toEqual([0, 0])
  })

  it('is refused when it has no address at all', async () => {
    const { receiver } = await startBesideInternal()
    const sender = senderTo(receiver, { resolve: async () => [] })
    expect(await sender.send(message(receiver.url('/', name)))).toEqual(unanswered('address not public'))
  })

  it('is refused when it has over 64 addresses', async () => {
    const { receiver } = await startBesideInternal()
    const sender = senderTo(receiver, { resolve: async () => new Array(65).fill('127.0.0.1') })
    expect(await sender.send(message(receiver.url('/', name)))).toEqual(unanswered('too many addresses'))
    expect(receiver.connections()).toBe(0)
  })

  it('is not reached by changing its address after the check (DNS rebinding)', async () => {
    const { receiver, internal } = await startBesideInternal()
    let asked = 0
    const server = ending(
      await startNameServer((_name, type) => (type === 'A' ? [asked++ ? elsewhere : '127.0.0.1'] : [])),
    )
    const sender = senderTo(receiver, { resolve: createResolve({ servers: [server.address], ...patient }) })
    expect(await sender.send(message(receiver.url('/', name)))).toMatchObject({ status: 204 })
    expect(asked).toBe(1)
    // The first answer is cached for some seconds; after that, the second counts.
    const { error } = await sender.send(message(receiver.url('/', name)))
    expect([null, 'address not public']).toContain(error)
    const later = senderTo(receiver, { resolve: createResolve({ servers: [server.address], ...patient }) })
    expect(await later.send(message(receiver.url('/', name)))).toEqual(unanswered('address not public'))
    expect(internal.connections()).toBe(0)
  })

  it('is refused from its second lookup on, even while a connection is open', async () => {
    const { receiver, internal } = await startBesideInternal()
    let asked = 0
    const resolve = async () => [asked++ === 0 ? '127.0.0.1' : elsewhere]
    const sender = senderTo(receiver, { resolve })
    expect(await sender.send(message(receiver.url('/', name)))).toMatchObject({ status: 204 })
    // One lookup for one message.
    expect(asked).toBe(1)
    for (let n = 0; n < 3; n++) {
      expect(await sender.send(message(receiver.url('/', name)))).toEqual(unanswered('address not public'))
    }
    expect([receiver.received.length, internal.connections()]).toEqual([1, 0])
  })
})

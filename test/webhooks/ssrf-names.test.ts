import { describe, expect, it } from 'vitest'
import { createResolve } from '../../server/webhooks/send/resolve.ts'
import { startInternalService } from './internal-service.ts'
import { startNameServer } from './name-server.ts'
import { startReceiver } from './receiver.ts'
import { elsewhere, ending, message, senderTo, unanswered } from './sending.ts'

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

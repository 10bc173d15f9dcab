import { describe, expect, it } from 'vitest'
import { createResolve } from '../../server/webhooks/send/resolve.ts'
import { startInner } from './inner.ts'
import { startNameServer } from './name-server.ts'
import { startReceiver } from './receiver.ts'
import { elsewhere, ending, message, senderTo, unanswered } from './sending.ts'

const name = 'hooks.example.org'

/** A receiver at the one address that may be reached, and a service inside at the same port of another. */
async function besideInner() {
  const receiver = ending(await startReceiver({ names: [name] }))
  return { receiver, inner: await startInner(receiver.port, elsewhere) }
}

/** A question is never asked twice because the machine is busy. */
const patient = { queryMs: 60_000, totalMs: 100_000 }

describe('a name that leads inside', () => {
  it.each([
    ['alone', ['127.0.0.2'], []],
    ['alone, over IPv6', [], ['::1']],
    ['mapped', [], ['::ffff:7f00:1']],
    ['and outside', ['127.0.0.1', '127.0.0.2'], []],
    ['and outside, in this order', ['127.0.0.2', '127.0.0.1'], []],
    ['over IPv6 and outside', ['127.0.0.1'], ['::1']],
    ['to metadata and outside', ['127.0.0.1', '169.254.169.254'], []],
    ['after four addresses outside', ['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.2'], []],
  ])('is refused: %s', async (_how, A, AAAA) => {
    const { receiver, inner } = await besideInner()
    const server = ending(await startNameServer((_name, type) => (type === 'A' ? A : AAAA)))
    const sender = senderTo(receiver, { resolve: createResolve({ servers: [server.address], ...patient }) })
    expect(await sender.send(message(receiver.url('/', name)))).toEqual(unanswered('address not public'))
    expect([receiver.connections(), inner.connections()]).toEqual([0, 0])
  })

  it('is refused where it has no address at all', async () => {
    const { receiver } = await besideInner()
    const sender = senderTo(receiver, { resolve: async () => [] })
    expect(await sender.send(message(receiver.url('/', name)))).toEqual(unanswered('address not public'))
  })

  it('is refused where it has more addresses than anybody needs', async () => {
    const { receiver } = await besideInner()
    const sender = senderTo(receiver, { resolve: async () => new Array(65).fill('127.0.0.1') })
    expect(await sender.send(message(receiver.url('/', name)))).toEqual(unanswered('too many addresses'))
    expect(receiver.connections()).toBe(0)
  })

  it('as soon as it was checked goes nowhere: what was checked is what is connected to', async () => {
    const { receiver, inner } = await besideInner()
    let asked = 0
    const server = ending(
      await startNameServer((_name, type) => (type === 'A' ? [asked++ ? elsewhere : '127.0.0.1'] : [])),
    )
    const sender = senderTo(receiver, { resolve: createResolve({ servers: [server.address], ...patient }) })
    expect(await sender.send(message(receiver.url('/', name)))).toMatchObject({ status: 204 })
    expect(asked).toBe(1)
    // The first answer is kept for some seconds; then there is the second.
    const { error } = await sender.send(message(receiver.url('/', name)))
    expect([null, 'address not public']).toContain(error)
    const later = senderTo(receiver, { resolve: createResolve({ servers: [server.address], ...patient }) })
    expect(await later.send(message(receiver.url('/', name)))).toEqual(unanswered('address not public'))
    expect(inner.connections()).toBe(0)
  })

  it('from its second answer on is refused then, also where a connection is still open', async () => {
    const { receiver, inner } = await besideInner()
    let asked = 0
    const resolve = async () => [asked++ === 0 ? '127.0.0.1' : elsewhere]
    const sender = senderTo(receiver, { resolve })
    expect(await sender.send(message(receiver.url('/', name)))).toMatchObject({ status: 204 })
    // One look at the name for one delivery.
    expect(asked).toBe(1)
    for (let n = 0; n < 3; n++) {
      expect(await sender.send(message(receiver.url('/', name)))).toEqual(unanswered('address not public'))
    }
    expect([receiver.received.length, inner.connections()]).toEqual([1, 0])
  })
})

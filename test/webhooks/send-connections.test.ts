import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import type { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { startRawReceiver } from './raw-receiver.ts'
import { startReceiver } from './receiver.ts'
import { elsewhere, ending, message, senderTo, timeouts, unanswered } from './sending.ts'

const noContent = 'HTTP/1.1 204 No Content\r\n\r\n'

// No time limit ends a connection here: 140 handshakes at once take seconds on a busy machine.
const kept = { timeouts: { connectMs: 60_000, totalMs: 60_000, idleMs: 60_000 } }

/** A receiver that closes the connection of these requests, counted from 1, without a response. */
async function startClosing(...numbers: number[]) {
  let count = 0
  const answer = (_received: unknown, response: ServerResponse) => {
    count++
    if (numbers.includes(count)) return response.socket!.destroy()
    return response.writeHead(204).end()
  }
  return ending(await startReceiver({ answer }))
}

const ids = ({ received }: { received: { headers: Record<string, unknown> }[] }) =>
  received.map(({ headers }) => headers['webhook-id'])

describe('a connection', () => {
  it('is reused', async () => {
    const receiver = await startClosing()
    const sender = senderTo(receiver, kept)
    for (let n = 0; n < 5; n++) expect(await sender.send(message(receiver.url()))).toMatchObject({ error: null })
    expect(receiver.received).toHaveLength(5)
    expect(receiver.connections()).toBe(1)
  })

  it('is closed when it has been idle', async () => {
    const receiver = ending(await startRawReceiver((socket) => void socket.write(noContent)))
    await senderTo(receiver, { timeouts: { idleMs: 100 } }).send(message(receiver.url))
    await expect.poll(receiver.open).toBe(0)
  })

  it('is replaced at once when the receiver has closed it', async () => {
    const receiver = await startClosing(2)
    const sender = senderTo(receiver, kept)
    expect(await sender.send(message(receiver.url(), { id: 'a' }))).toMatchObject({ status: 204 })
    expect(await sender.send(message(receiver.url(), { id: 'b' }))).toMatchObject({ status: 204 })
    expect(ids(receiver)).toEqual(['a', 'b', 'b'])
    expect(receiver.connections()).toBe(2)
  })

  it('is replaced once', async () => {
    const receiver = await startClosing(2, 3)
    const sender = senderTo(receiver, kept)
    await sender.send(message(receiver.url(), { id: 'a' }))
    expect(await sender.send(message(receiver.url(), { id: 'b' }))).toEqual(unanswered('ECONNRESET'))
    expect(ids(receiver)).toEqual(['a', 'b', 'b'])
  })

  it('is not replaced when it was new', async () => {
    const receiver = await startClosing(1)
    expect(await senderTo(receiver).send(message(receiver.url()))).toEqual(unanswered('ECONNRESET'))
    expect(receiver.received).toHaveLength(1)
  })

  it('is not replaced when the receiver is slow', async () => {
    let count = 0
    const answer = (_received: unknown, response: ServerResponse) =>
      ++count === 1 ? response.writeHead(204).end() : pass(15_000)
    const receiver = ending(await startReceiver({ answer }))
    const pass = timeouts()
    const sender = senderTo(receiver, { timeouts: { idleMs: 60_000 } })
    expect(await sender.send(message(receiver.url()))).toMatchObject({ status: 204 })
    expect(await sender.send(message(receiver.url()))).toEqual(unanswered('timeout'))
    await expect.poll(receiver.open).toBe(0)
    expect(receiver.received).toHaveLength(2)
    expect(receiver.connections()).toBe(1)
  })

  it('is kept for reuse, up to 128 of one receiver', async () => {
    const waiting: Writable[] = []
    const answer = (socket: Writable) => {
      if (waiting.push(socket) === 140) for (const one of waiting) one.write(noContent)
    }
    const receiver = ending(await startRawReceiver(answer))
    const sender = senderTo(receiver, { timeouts: { ...kept.timeouts, connectMs: 60_000, totalMs: 60_000 } })
    await Promise.all(Array.from({ length: 140 }, () => sender.send(message(receiver.url))))
    expect(waiting).toHaveLength(140)
    await expect.poll(receiver.open).toBe(128)
  })
})

describe('closing a sender', () => {
  it('closes idle connections and finishes requests in progress', async () => {
    const sockets: Writable[] = []
    const answer = (socket: Writable) => {
      if (sockets.push(socket) > 1) socket.write(noContent)
    }
    const receiver = ending(await startRawReceiver(answer))
    const sender = senderTo(receiver, kept)
    const slow = sender.send(message(receiver.url))
    await expect.poll(() => sockets.length).toBe(1)
    await sender.send(message(receiver.url))
    expect(receiver.open()).toBe(2)

    sender.close()
    await expect.poll(receiver.open).toBe(1)
    sockets[0]!.write(noContent)
    expect(await slow).toMatchObject({ status: 204, error: null })
    await expect.poll(receiver.open).toBe(0)
  })
})

describe('a receiver with several addresses', () => {
  const name = 'receiver.example.org'
  const allow = ['127.0.0.1', elsewhere]

  it('is sent to at the next address when one does not complete the TLS handshake', async () => {
    const receiver = ending(await startReceiver({ names: [name] }))
    const pass = timeouts()
    // Half of the 5 s for connecting.
    const silent = createServer((socket) => {
      socket.on('error', () => {})
      pass(2_500)
    }).listen(receiver.port, elsewhere)
    await once(silent, 'listening')
    const resolve = async () => [elsewhere, '127.0.0.1']
    const sender = senderTo(receiver, { allow, resolve })
    expect(await sender.send(message(receiver.url('/', name)))).toMatchObject({ status: 204 })
    silent.close()
  })

  it('is sent to at up to four of them', async () => {
    const receiver = ending(await startReceiver({ names: [name] }))
    const sendTo = (dead: number) => {
      const resolve = async () => [...new Array(dead).fill(elsewhere), '127.0.0.1']
      return senderTo(receiver, { allow, resolve }).send(message(receiver.url('/', name)))
    }
    expect(await sendTo(3)).toMatchObject({ status: 204 })
    expect(await sendTo(4)).toEqual(unanswered('ECONNREFUSED'))
    expect(receiver.connections()).toBe(1)
  })

  it('is not sent to at another address after a response', async () => {
    const answer = (_received: unknown, response: ServerResponse) => response.writeHead(500).end()
    const receiver = ending(await startReceiver({ names: [name], answer }))
    const sender = senderTo(receiver, { resolve: async () => ['127.0.0.1', '127.0.0.1'] })
    expect(await sender.send(message(receiver.url('/', name)))).toMatchObject({ status: 500 })
    expect(receiver.received).toHaveLength(1)
  })
})

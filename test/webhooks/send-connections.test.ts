import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import type { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { startRawReceiver } from './raw-receiver.ts'
import { startReceiver } from './receiver.ts'
import { elsewhere, ending, message, senderTo, unanswered } from './sending.ts'

const noContent = 'HTTP/1.1 204 No Content\r\n\r\n'

const kept = { timeouts: { idleMs: 60_000 } }

const patiently = { timeout: 15_000 }

/** A receiver that hangs up on the requests of these numbers, counted from one, without an answer. */
async function hangingUp(...numbers: number[]) {
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
  it('is used again', async () => {
    const receiver = await hangingUp()
    const sender = senderTo(receiver, kept)
    for (let n = 0; n < 5; n++) expect(await sender.send(message(receiver.url()))).toMatchObject({ error: null })
    expect(receiver.received).toHaveLength(5)
    expect(receiver.connections()).toBe(1)
  })

  it('is ended when nothing has come for a while', async () => {
    const receiver = ending(await startRawReceiver((socket) => void socket.write(noContent)))
    await senderTo(receiver, { timeouts: { idleMs: 100 } }).send(message(receiver.url))
    await expect.poll(receiver.open, patiently).toBe(0)
  })

  it('that the receiver has closed is replaced at once', async () => {
    const receiver = await hangingUp(2)
    const sender = senderTo(receiver, kept)
    expect(await sender.send(message(receiver.url(), { id: 'a' }))).toMatchObject({ status: 204 })
    expect(await sender.send(message(receiver.url(), { id: 'b' }))).toMatchObject({ status: 204 })
    expect(ids(receiver)).toEqual(['a', 'b', 'b'])
    expect(receiver.connections()).toBe(2)
  })

  it('is replaced once', async () => {
    const receiver = await hangingUp(2, 3)
    const sender = senderTo(receiver, kept)
    await sender.send(message(receiver.url(), { id: 'a' }))
    expect(await sender.send(message(receiver.url(), { id: 'b' }))).toEqual(unanswered('ECONNRESET'))
    expect(ids(receiver)).toEqual(['a', 'b', 'b'])
  })

  it('that was new is not replaced', async () => {
    const receiver = await hangingUp(1)
    expect(await senderTo(receiver).send(message(receiver.url()))).toEqual(unanswered('ECONNRESET'))
    expect(receiver.received).toHaveLength(1)
  })

  it('is not replaced because a receiver is slow', async () => {
    let count = 0
    const answer = (_received: unknown, response: ServerResponse) => ++count === 1 && response.writeHead(204).end()
    const receiver = ending(await startReceiver({ answer }))
    const sender = senderTo(receiver, { timeouts: { ...kept.timeouts, totalMs: 3_000 } })
    expect(await sender.send(message(receiver.url()))).toMatchObject({ status: 204 })
    expect(await sender.send(message(receiver.url()))).toEqual(unanswered('timeout'))
    await expect.poll(receiver.open, patiently).toBe(0)
    expect(receiver.received).toHaveLength(2)
    expect(receiver.connections()).toBe(1)
  })

  it('is kept for as many as come at once, and not for more than 128', async () => {
    const waiting: Writable[] = []
    const answer = (socket: Writable) => {
      if (waiting.push(socket) === 140) for (const one of waiting) one.write(noContent)
    }
    const receiver = ending(await startRawReceiver(answer))
    const sender = senderTo(receiver, kept)
    await Promise.all(Array.from({ length: 140 }, () => sender.send(message(receiver.url))))
    expect(waiting).toHaveLength(140)
    await expect.poll(receiver.open, patiently).toBe(128)
  })
})

describe('a sender that is closed', () => {
  it('ends what is idle, and finishes what it is sending', async () => {
    const sockets: Writable[] = []
    const answer = (socket: Writable) => {
      if (sockets.push(socket) > 1) socket.write(noContent)
    }
    const receiver = ending(await startRawReceiver(answer))
    const sender = senderTo(receiver, kept)
    const slow = sender.send(message(receiver.url))
    await expect.poll(() => sockets.length, patiently).toBe(1)
    await sender.send(message(receiver.url))
    expect(receiver.open()).toBe(2)

    sender.close()
    await expect.poll(receiver.open, patiently).toBe(1)
    sockets[0]!.write(noContent)
    expect(await slow).toMatchObject({ status: 204, error: null })
    await expect.poll(receiver.open, patiently).toBe(0)
  })
})

describe('of several addresses', () => {
  const name = 'receiver.example.org'
  const allow = ['127.0.0.1', elsewhere]

  it('the next is taken when one cannot be reached', async () => {
    const receiver = ending(await startReceiver({ names: [name] }))
    const sender = senderTo(receiver, { allow, resolve: async () => [elsewhere, '127.0.0.1'] })
    expect(await sender.send(message(receiver.url('/', name)))).toMatchObject({ status: 204 })
  })

  it('the next is taken when one does not shake hands', async () => {
    const receiver = ending(await startReceiver({ names: [name] }))
    const silent = createServer((socket) => socket.on('error', () => {})).listen(receiver.port, elsewhere)
    await once(silent, 'listening')
    const sender = senderTo(receiver, { allow, resolve: async () => [elsewhere, '127.0.0.1'] })
    expect(await sender.send(message(receiver.url('/', name)))).toMatchObject({ status: 204 })
    silent.close()
  })

  it('none is taken after an answer', async () => {
    const answer = (_received: unknown, response: ServerResponse) => response.writeHead(500).end()
    const receiver = ending(await startReceiver({ names: [name], answer }))
    const sender = senderTo(receiver, { resolve: async () => ['127.0.0.1', '127.0.0.1'] })
    expect(await sender.send(message(receiver.url('/', name)))).toMatchObject({ status: 500 })
    expect(receiver.received).toHaveLength(1)
  })

  it('all may be out of reach', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const sender = senderTo({ ca: '' }, { resolve: async () => ['127.0.0.1', '127.0.0.1'] })
    expect(await sender.send(message(`https://${name}:${port}/`))).toEqual(unanswered('ECONNREFUSED'))
  })
})

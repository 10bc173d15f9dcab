import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { broken, cut, drip, endless, isClosed, raw, silent } from './hostile-receivers.ts'
import { message, senderTo, timeouts, unanswered } from './sending.ts'

/** Calls it when Node has read the headers of a response and the sender has seen them. */
function onceHeadersHaveCome(then: () => void) {
  const channel = 'http.client.response.finish'
  const come = () => {
    unsubscribe(channel, come)
    setImmediate(then)
  }
  subscribe(channel, come)
}

const soon = { timeouts: { totalMs: 500 } }
// Longer than the test's own timeout: the result must not depend on it.
const atOnce = { timeouts: { totalMs: 300_000 } }

describe('a receiver', () => {
  it.each(silent)('that %s times out', async (_what, answer) => {
    const receiver = await raw(answer)
    expect(await senderTo(receiver, soon).send(message(receiver.url))).toEqual(unanswered('timeout'))
    await isClosed(receiver)
  })

  it.each([
    ['200 OK', null],
    ['500 Oh', 'status 500'],
  ])('that responds with %s and sends its body byte by byte counts as having responded', async (line, error) => {
    const receiver = await raw((socket) => drip(socket, `HTTP/1.1 ${line}\r\ncontent-length: 1000000\r\n\r\nx`))
    const pass = timeouts()
    onceHeadersHaveCome(() => pass(15_000))
    const result = await senderTo(receiver).send(message(receiver.url))
    expect(result).toMatchObject({
      status: Number(line.slice(0, 3)),
      error,
      responseBody: expect.stringMatching(/^x+$/),
    })
    await isClosed(receiver)
  })

  it.each(endless)('that never ends its body is disconnected (%s)', async (_header, answer) => {
    const receiver = await raw(answer)
    expect(await senderTo(receiver, atOnce).send(message(receiver.url))).toMatchObject({
      status: 200,
      error: null,
      responseBody: 'x'.repeat(1_024),
    })
    await isClosed(receiver)
  })

  it.each(broken)('that %s fails', async (_what, answer, error) => {
    const receiver = await raw(answer)
    const result = await senderTo(receiver, atOnce).send(message(receiver.url))
    expect(result).toEqual({ ...unanswered(''), error: expect.stringMatching(error) })
    await isClosed(receiver)
  })

  it.each(cut)('that %s its body counts as having responded', async (_what, answer) => {
    const receiver = await raw(answer)
    const result = await senderTo(receiver, atOnce).send(message(receiver.url))
    expect(result).toMatchObject({ status: 200, error: null, responseBody: 'half' })
    await isClosed(receiver)
  })

  it.each([
    ['never completes the TLS handshake', '', 'connect timeout', 500],
    ['has no TLS', 'HTTP/1.1 400 Bad Request\r\n\r\n', /^(?:ERR_SSL_|EPROTO)/, 300_000],
  ])('that %s fails', async (_what, greeting, error, connectMs) => {
    const server = createServer((socket) => {
      socket.on('error', () => {}).write(greeting)
      onTestFinished(() => void socket.destroy())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const sender = senderTo({ ca: '' }, { timeouts: { connectMs, totalMs: 300_000 } })
    const result = await sender.send(message(`https://127.0.0.1:${port}/`))
    expect(result).toEqual({ ...unanswered(''), error: expect.stringMatching(error) })
  })
})

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { startReceiver } from '../../webhooks/receiver.ts'
import { message, senderTo, unanswered } from '../../webhooks/sending.ts'

it('an attempt without an answer ends after 15 s, well before its lease of 45 s', async () => {
  const receiver = await startReceiver({ answer: () => {} })
  const start = performance.now()
  expect(await senderTo(receiver).send(message(receiver.url()))).toEqual(unanswered('timeout'))
  const seconds = (performance.now() - start) / 1_000
  expect(seconds).toBeGreaterThan(14.5)
  expect(seconds).toBeLessThan(25)
  await receiver.close()
})

it('an attempt without a TLS handshake ends after 5 s', async () => {
  const silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const start = performance.now()
  const sender = senderTo({ ca: '' })
  expect(await sender.send(message(`https://127.0.0.1:${port}/`))).toEqual(unanswered('connect timeout'))
  const seconds = (performance.now() - start) / 1_000
  expect(seconds).toBeGreaterThan(4.5)
  expect(seconds).toBeLessThan(12)
  silent.close()
})

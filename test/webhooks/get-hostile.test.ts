import { describe, expect, it } from 'vitest'
import { createGet } from '../../server/outgoing/get.ts'
import { broken, cut, drip, endless, isClosed, raw, silent } from './hostile-receivers.ts'

const read = ({ url, ca }: { url: string; ca: string }, signal: AbortSignal) =>
  createGet({ allow: ['127.0.0.1'], ca })(url, 1_024, signal)

// Deno keeps the connection of an aborted request on which early hints arrive.
const slow = 'Deno' in globalThis ? silent.filter(([what]) => what !== 'only ever sends early hints') : silent

const soon = () => AbortSignal.timeout(500)
// The result must not depend on it.
const never = () => new AbortController().signal

describe('reading from a host', () => {
  it.each([
    ...slow,
    [
      'sends its body byte by byte',
      (socket) => drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\nx'),
    ] satisfies (typeof silent)[0],
  ])('that %s ends when the signal aborts', async (_what, answer) => {
    const receiver = await raw(answer)
    await expect(read(receiver, soon())).rejects.toThrow(/abort/)
    await isClosed(receiver)
  })

  it.each(broken)('that %s fails at once', async (_what, answer) => {
    const receiver = await raw(answer)
    await expect(read(receiver, never())).rejects.toThrow()
    await isClosed(receiver)
  })

  it.each(cut)('that %s its body fails at once', async (_what, answer) => {
    const receiver = await raw(answer)
    await expect(read(receiver, never())).rejects.toThrow()
    await isClosed(receiver)
  })

  it.each(endless)('that never ends its body fails at once (%s)', async (_header, answer) => {
    const receiver = await raw(answer)
    await expect(read(receiver, never())).rejects.toThrow('too large')
    await isClosed(receiver)
  })
})

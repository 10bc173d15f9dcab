import { describe, expect, it } from 'vitest'
import { startInternalService } from './internal-service.ts'
import { startReceiver } from './receiver.ts'
import { ending, message, senderTo, unanswered } from './sending.ts'

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

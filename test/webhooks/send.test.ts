import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import type { Writable } from 'node:stream'
import tls from 'node:tls'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TIMEOUTS } from '../../server/webhooks/send/send.ts'
import { LEASE_MS } from '../../server/webhooks/worker.ts'
import { startRawReceiver } from './raw-receiver.ts'
import type { Received } from './receiver.ts'
import { selfSigned, startReceiver } from './receiver.ts'
import { elsewhere, ending, message, senderTo, timeouts, unanswered } from './sending.ts'

const receiving = async (answer?: (received: Received, response: ServerResponse) => unknown) =>
  ending(await startReceiver(answer && { answer }))

const delivered = { status: 204, error: null, responseBody: '', retryAfterSeconds: null, gone: false }

describe('a message', () => {
  it('is one POST with the documented headers', async () => {
    const receiver = await receiving()
    const now = () => 1_760_000_000_999
    const body = '{"id":"e1","data":"Grüße 🎉"}'
    const sent = message(receiver.url('/hook?a=%20b'), { id: 'd1', secret: 's3cret', body })
    expect(await senderTo(receiver, { now }).send(sent)).toEqual(delivered)
    expect(receiver.received).toEqual([
      {
        method: 'POST',
        path: '/hook?a=%20b',
        headers: {
          host: `127.0.0.1:${receiver.port}`,
          accept: '*/*',
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
          'user-agent': 'member-apps-api-webhooks/1',
          'webhook-id': 'd1',
          'webhook-timestamp': '1760000000',
          'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
          'x-webhook-secret': 's3cret',
          connection: 'keep-alive',
        },
        body,
      },
    ])
  })

  it('is signed with the secret as text, as the official library verifies it', async () => {
    const receiver = await receiving()
    const secret = 'any ~ secret!'
    await senderTo(receiver).send(message(receiver.url(), { secret, body: '{"a":"ü"}' }))
    const [{ body, headers }] = receiver.received as [Received]
    const verify = (key: string, text = body) =>
      new Webhook(key, { format: 'raw' }).verify(text, headers as Record<string, string>)
    expect(verify(secret)).toEqual({ a: 'ü' })
    expect(() => verify('another')).toThrow('No matching signature')
    expect(() => verify(secret, '{"a":"u"}')).toThrow('No matching signature')
  })

  it('is signed a second time when the secret is a Standard Webhooks key', async () => {
    const receiver = await receiving()
    const secret = `whsec_${Buffer.from('a key of 24 bytes or so.').toString('base64')}`
    await senderTo(receiver).send(message(receiver.url(), { secret, body: '{"a":1}' }))
    const [{ body, headers }] = receiver.received as [Received]
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual({ a: 1 })
    expect(new Webhook(secret, { format: 'raw' }).verify(body, headers as Record<string, string>)).toEqual({ a: 1 })
    expect(headers['x-webhook-secret']).toBe(secret)
  })

  it('is signed with a former secret too, and sends the present one alone', async () => {
    const receiver = await receiving()
    const former = `whsec_${Buffer.from('a key of 24 bytes or so.').toString('base64')}`
    await senderTo(receiver).send(message(receiver.url(), { secret: 'present', former, body: '{"a":1}' }))
    const [{ body, headers }] = receiver.received as [Received]
    expect(headers['x-webhook-secret']).toBe('present')
    expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+ v1,\S+$/)
    const verify = (library: Webhook) => library.verify(body, headers as Record<string, string>)
    for (const secret of ['present', former]) expect(verify(new Webhook(secret, { format: 'raw' }))).toEqual({ a: 1 })
    expect(verify(new Webhook(former))).toEqual({ a: 1 })
    expect(() => verify(new Webhook('another', { format: 'raw' }))).toThrow('No matching signature')
  })

  it('has neither secret nor signature header without a secret', async () => {
    const receiver = await receiving()
    expect(await senderTo(receiver).send(message(receiver.url(), { secret: null }))).toEqual(delivered)
    const [{ headers }] = receiver.received as [Received]
    expect(Object.keys(headers)).toContain('webhook-id')
    expect(Object.keys(headers)).not.toContain('webhook-signature')
    expect(Object.keys(headers)).not.toContain('x-webhook-secret')
  })

  it('is signed with the time of each attempt', async () => {
    const receiver = await receiving()
    let now = 5_000
    const sender = senderTo(receiver, { now: () => now })
    await sender.send(message(receiver.url()))
    now = 65_000
    await sender.send(message(receiver.url()))
    expect(receiver.received.map(({ headers }) => headers['webhook-timestamp'])).toEqual(['5', '65'])
    const [first, second] = receiver.received.map(({ headers }) => headers['webhook-signature'])
    expect(first).not.toBe(second)
  })
})

describe('a response', () => {
  it.each([
    [200, null],
    [299, null],
    [300, 'redirect 300'],
    [308, 'redirect 308'],
    [400, 'status 400'],
    [410, 'status 410'],
    [500, 'status 500'],
  ])('with status %i has the error %j', async (status, error) => {
    const receiver = await receiving((_received, response) => response.writeHead(status).end())
    const result = await senderTo(receiver).send(message(receiver.url()))
    expect(result).toEqual({ status, error, responseBody: '', retryAfterSeconds: null, gone: status === 410 })
    expect(receiver.received).toHaveLength(1)
  })

  it.each([
    ['0', 0],
    ['120', 120],
    ['120, 120', 120],
    ['Thu, 01 Jan 1970 00:10:00 gmt', 500],
    ['86400', 3600],
    ['Thu, 01 Jan 1970 00:10:00 GMT', 500],
    ['Fri, 02 Jan 1970 00:00:00 GMT', 3600],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['1970-01-01T00:10:00Z', null],
  ])('with Retry-After %j asks for %j seconds', async (value, seconds) => {
    const receiver = await receiving((_received, response) => response.writeHead(503, { 'retry-after': value }).end())
    const result = await senderTo(receiver, { now: () => 100_000 }).send(message(receiver.url()))
    expect(result).toMatchObject({ error: 'status 503', retryAfterSeconds: seconds })
  })

  it.each([
    ['short', 'no', 'no'],
    ['of exactly 1 KiB', 'x'.repeat(1_024), 'x'.repeat(1_024)],
    ['longer', 'x'.repeat(1_025), 'x'.repeat(1_024)],
    ['cut within a character', `xx${'€'.repeat(2_000)}`, `xx${'€'.repeat(340)}`],
    ['cut within a pair of surrogates', `x${'🎉'.repeat(2_000)}`, `x${'🎉'.repeat(255)}`],
    ['with NUL', 'a\0b\0', 'ab'],
    ['not UTF-8', Buffer.from([0x61, 0xff, 0xe2, 0x82]), 'a\ufffd\ufffd'],
    ['not UTF-8, longer when decoded', Buffer.alloc(1_024, 0xff), '\ufffd'.repeat(341)],
  ])('is stored as text: %s', async (_which, body, stored) => {
    const receiver = await receiving((_received, response) => response.writeHead(500).end(body))
    const { responseBody } = await senderTo(receiver).send(message(receiver.url()))
    expect(responseBody).toBe(stored)
    expect(Buffer.byteLength(responseBody!)).toBeLessThanOrEqual(1_024)
  })
})

describe('a message that cannot be sent', () => {
  it.each([
    'not a url',
    'http://127.0.0.1/hook',
    'https://user@127.0.0.1/hook',
    'https://:word@127.0.0.1/hook',
    'https://[::1%25lo]/hook',
  ])('is an invalid url: %s', async (url) => {
    const receiver = await receiving()
    expect(await senderTo(receiver).send(message(url))).toEqual(unanswered('invalid url'))
  })

  it.each(['line\r\nX-Evil: 1', 'emoji 🎉', 'nul\0'])('has a secret that is no valid header: %j', async (secret) => {
    const receiver = await receiving()
    const result = await senderTo(receiver).send(message(receiver.url(), { secret }))
    expect(result).toEqual(unanswered('invalid request: ERR_INVALID_CHAR'))
    expect(receiver.connections()).toBe(0)
  })
})

const failing = (code: string | undefined) => async () => {
  throw Object.assign(new Error('query A receiver.example.org'), { code })
}

describe('a name that cannot be resolved', () => {
  it.each([
    ['ENOTFOUND', 'name not found'],
    ['ENODATA', 'name not found'],
    ['EBADNAME', 'name not found'],
    ['ETIMEOUT', 'name timeout'],
    ['ECANCELLED', 'name timeout'],
    ['ESERVFAIL', 'name lookup: ESERVFAIL'],
    ['EAI_AGAIN', 'name lookup: EAI_AGAIN'],
    [undefined, 'name lookup failed'],
    ['receiver.example.org', 'name lookup failed'],
  ])('with code %s has the error %j', async (code, error) => {
    const sender = senderTo({ ca: '' }, { resolve: failing(code) })
    expect(await sender.send(message('https://receiver.example.org/'))).toEqual(unanswered(error))
  })

  it('times out', async () => {
    const sender = senderTo({ ca: '' }, { resolve: () => new Promise(() => {}), timeouts: { connectMs: 200 } })
    expect(await sender.send(message('https://receiver.example.org/'))).toEqual(unanswered('name timeout'))
  })

  it('does not reject, even when the resolver throws', async () => {
    const resolve = () => {
      throw new Error('https://receiver.example.org/?secret')
    }
    const { error } = await senderTo({ ca: '' }, { resolve }).send(message('https://receiver.example.org/'))
    expect(error).toBe('invalid request: Error')
  })
})

const name = 'receiver.example.org'
const resolve = async () => ['127.0.0.1']

const HOUR_MS = 3_600_000
const between = (from: number, to: number) =>
  selfSigned(['localhost'], {
    notBeforeDate: new Date(Date.now() + from * HOUR_MS),
    notAfterDate: new Date(Date.now() + to * HOUR_MS),
  })

describe('the certificate of a receiver', () => {
  it('is verified against the name in the url', async () => {
    const names: unknown[] = []
    const answer = (socket: tls.TLSSocket) => {
      names.push(socket.servername)
      socket.write('HTTP/1.1 204 No Content\r\n\r\n')
    }
    const receiver = ending(await startRawReceiver(answer, { certificate: selfSigned([name]) }))
    const sender = senderTo(receiver, { resolve })
    const { port } = new URL(receiver.url)
    for (const host of [name, `${name}.`, '127.0.0.1']) {
      expect(await sender.send(message(`https://${host}:${port}/`))).toMatchObject({ status: 204 })
    }
    expect(names).toEqual([name, name, false])
  })

  it('is refused for another name', async () => {
    const receiver = ending(await startReceiver({ names: [name] }))
    const result = await senderTo(receiver, { resolve }).send(message(receiver.url('/', 'other.example.org')))
    expect(result).toEqual(unanswered('certificate: ERR_TLS_CERT_ALTNAME_INVALID'))
    expect(receiver.received).toEqual([])
  })

  it('is refused for an address that it does not name', async () => {
    const certificate = selfSigned([name], {
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: name }] },
      ],
    })
    const receiver = ending(await startReceiver({ certificate }))
    const sender = senderTo(receiver, { resolve })
    expect(await sender.send(message(receiver.url('/', name)))).toMatchObject({ status: 204 })
    expect(await sender.send(message(receiver.url()))).toEqual(unanswered('certificate: ERR_TLS_CERT_ALTNAME_INVALID'))
    expect(receiver.received).toHaveLength(1)
  })

  it.each([
    ['that has expired', between(-48, -24), 'CERT_HAS_EXPIRED'],
    ['that is not valid yet', between(24, 48), 'CERT_NOT_YET_VALID'],
  ])('%s is refused', async (_which, certificate, code) => {
    const receiver = ending(await startReceiver({ certificate }))
    expect(await senderTo(receiver).send(message(receiver.url()))).toEqual(unanswered(`certificate: ${code}`))
    expect(receiver.received).toEqual([])
  })

  it.each([
    ['the well-known authorities', async () => undefined],
    ['another authority', async () => (await selfSigned()).cert],
  ])('is refused when it is self-signed and the sender trusts %s', async (_whom, authority) => {
    const receiver = ending(await startReceiver())
    const sender = senderTo(receiver, { ca: await authority() })
    expect(await sender.send(message(receiver.url()))).toEqual(unanswered('certificate: DEPTH_ZERO_SELF_SIGNED_CERT'))
    expect(receiver.received).toEqual([])
  })

  it('is verified even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
    onTestFinished(() => {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
    })
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    const receiver = ending(await startReceiver({ names: [name] }))
    const untrusting = senderTo(receiver, { ca: undefined })
    expect(await untrusting.send(message(receiver.url()))).toMatchObject({
      error: expect.stringMatching(/^certificate/),
    })
    const misnamed = senderTo(receiver, { resolve })
    const result = await misnamed.send(message(receiver.url('/', 'other.example.org')))
    expect(result).toMatchObject({ error: expect.stringMatching(/^certificate/) })
    expect(receiver.received).toEqual([])
  })

  it('is only accepted over TLS 1.2 or later, even when the defaults of Node.js allow less', async () => {
    const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls
    onTestFinished(() => void Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS }))
    Object.assign(tls, { DEFAULT_MIN_VERSION: 'TLSv1', DEFAULT_CIPHERS: 'DEFAULT@SECLEVEL=0' })
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } as const
    const answer = (socket: tls.TLSSocket) => void socket.write('HTTP/1.1 204 No Content\r\n\r\n')
    const receiver = ending(await startRawReceiver(answer, old))
    const { error } = await senderTo(receiver).send(message(receiver.url))
    expect(error).toMatch(/^(?:ERR_SSL_|EPROTO|ECONNRESET)/)
  })
})

const page = (name: string) => readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')

it('an attempt has the times of the documents, and ends 30 s before its lease', async () => {
  const { connectMs, totalMs } = TIMEOUTS
  const webhooks = await page('webhooks')
  expect(webhooks).toContain(`| ${connectMs / 1_000} s for the connection, ${totalMs / 1_000} s for the response.`)
  expect(webhooks).toContain(`After ${totalMs / 1_000} seconds without a response the delivery is repeated.`)
  expect(await page('webhook-workers')).toContain(`The leases of a killed worker expire after ${LEASE_MS / 1_000} s;`)
  expect(LEASE_MS - totalMs).toBe(30_000)
})

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

import type { ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import type { Received } from './receiver.ts'
import { startReceiver } from './receiver.ts'
import { ending, message, senderTo, unanswered } from './sending.ts'

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

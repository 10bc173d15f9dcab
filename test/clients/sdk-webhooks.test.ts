import { expect, it } from 'vitest'
import { signedRequest, verifyWebhook, WebhookRefused } from '../../clients/sdk/webhooks.ts'
import { headersOf } from '../../server/webhooks/send/message.ts'

const secret = 'a secret, ä'
const body = '{"id":"e","type":"member.joined","timestamp":"2026-11-22T10:00:00.000Z","data":{"name":"Zoë"}}'
const message = { id: 'd', url: 'https://receiver.example/', body }
const deliver = (key = secret, now = Date.now(), former: string | null = null) => {
  const sent = headersOf({ ...message, secret: key, former }, 'receiver.example', now)
  return Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, String(value)]))
}
const refused = async (...given: Parameters<typeof verifyWebhook>) => {
  const error = await verifyWebhook(...given).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(WebhookRefused)
  return error.message
}

it("verifyWebhook returns the event of the service's own deliveries", async () => {
  const event = JSON.parse(body)
  expect(await verifyWebhook(body, deliver(), secret)).toEqual(event)
  expect(await verifyWebhook(new TextEncoder().encode(body), new Headers(deliver()), secret)).toEqual(event)
  expect(await verifyWebhook(Buffer.from(body), deliver(), ['the next one', secret])).toEqual(event)
  for (const one of ['the next one', secret]) {
    expect(await verifyWebhook(body, deliver('the next one', Date.now(), secret), one)).toEqual(event)
  }
  // Two signatures, of which one is keyed by the secret as text.
  const standard = `whsec_${btoa('k'.repeat(24))}`
  expect(deliver(standard)['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
  expect(await verifyWebhook(body, deliver(standard), standard)).toEqual(event)
})

it('verifyWebhook refuses another body, another secret, an old one, and one without a signature', async () => {
  const unsigned = 'The webhook was not signed with this secret.'
  const old = 'The webhook is too old, or has no time.'
  expect(await refused(`${body} `, deliver(), secret)).toBe(unsigned)
  expect(await refused(body, deliver(), 'another')).toBe(unsigned)
  expect(await refused(body, { ...deliver(), 'webhook-id': 'other' }, secret)).toBe(unsigned)
  for (const signature of [undefined, '', 'v1,', 'v1', `v2,${deliver()['webhook-signature']!.slice(3)}`, 'v1,%%%']) {
    expect(await refused(body, { ...deliver(), 'webhook-signature': signature }, secret)).toBe(unsigned)
  }
  for (const seconds of [-301, 301]) {
    expect(await refused(body, deliver(secret, Date.now() + seconds * 1000), secret)).toBe(old)
  }
  expect(await refused(body, { ...deliver(), 'webhook-timestamp': undefined }, secret)).toBe(old)
  const older = deliver(secret, Date.now() - 600_000)
  expect(await verifyWebhook(body, older, secret, { toleranceSeconds: 900 })).toMatchObject({ id: 'e' })
})

it('signedRequest makes what verifyWebhook accepts', async () => {
  const event = { type: 'member.joined', data: { name: 'Zoë' }, id: 'e' }
  const sent = await signedRequest('https://receiver.example/hook', secret, event, { delivery: 'd' })
  expect([sent.method, sent.headers.get('webhook-id')]).toEqual(['POST', 'd'])
  const received = new Uint8Array(await sent.clone().arrayBuffer())
  expect(await verifyWebhook(received, sent.headers, secret)).toMatchObject(event)
  const old = await signedRequest('https://receiver.example/', secret, event, { at: new Date(0) })
  expect(await refused(await old.text(), old.headers, secret)).toMatch(/too old/)
})

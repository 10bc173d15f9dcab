import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { GivenHeaders } from '../../clients/sdk/webhooks.ts'
import { signedRequest, verifyWebhook, WebhookRefused } from '../../clients/sdk/webhooks.ts'
import { buildHeaders } from '../../server/webhooks/send/message.ts'
import { times } from '../support/rounds.ts'

// Headers have whole seconds, of which a busy machine may let one pass before they are verified.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 22, 10) }))
afterEach(() => void vi.useRealTimers())

const secret = 'a secret, ä'
const body = '{"id":"e","type":"member.joined","timestamp":"2026-11-22T10:00:00.000Z","data":{"name":"Zoë"}}'
const message = { id: 'd', url: 'https://receiver.example/', body }
const deliver = (key = secret, now = Date.now(), former: string | null = null) => {
  const sent = buildHeaders({ ...message, secret: key, former }, 'receiver.example', now)
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
  for (const signature of ['v1,', 'v1', `v2,${deliver()['webhook-signature']!.slice(3)}`, 'v1,%%%']) {
    expect(await refused(body, { ...deliver(), 'webhook-signature': signature }, secret)).toBe(unsigned)
  }
  for (const seconds of [-301, 301]) {
    expect(await refused(body, deliver(secret, Date.now() + seconds * 1000), secret)).toBe(old)
  }
  for (const seconds of [-300, 300]) {
    expect(await verifyWebhook(body, deliver(secret, Date.now() + seconds * 1000), secret)).toMatchObject({ id: 'e' })
  }
  expect(await refused(body, { ...deliver(), 'webhook-timestamp': 'soon' }, secret)).toBe(old)
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

const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

it.each(NAMES)('verifyWebhook names the header that is missing: %s', async (name) => {
  const { [name]: _, ...others } = deliver()
  for (const lacking of [
    others,
    { ...others, [name]: undefined },
    { ...others, [name]: [] },
    { ...others, [name]: '' },
  ]) {
    expect(await refused(body, lacking, secret)).toBe(`The webhook has no header ${name}.`)
  }
  expect(await refused(body, new Headers(others), secret)).toBe(`The webhook has no header ${name}.`)
  expect(await refused(body, undefined as never, secret)).toBe('The webhook has no header webhook-id.')
})

it('verifyWebhook refuses two ids', async () => {
  const several = 'The webhook has several headers webhook-id.'
  expect(await refused(body, { ...deliver(), 'webhook-id': ['d', 'e'] }, secret)).toBe(several)
  expect(await refused(body, [...Object.entries(deliver()), ['Webhook-Id', 'e']], secret)).toBe(several)
})

/** The same headers as servers and proxies hand them over. */
const inCase = { lower: (name: string) => name, title, upper: (name: string) => name.toUpperCase(), mixed }
const asValue = {
  text: (value: string) => value,
  'list of one': (value: string) => [value],
  'list of two alike': (value: string) => [value, value],
  "CloudFront's": (value: string) => [{ key: 'Webhook', value }],
}
type Pairs = (readonly [string, ReturnType<(typeof asValue)[keyof typeof asValue]>])[]
const asHeaders: Record<string, (pairs: Pairs) => GivenHeaders | Promise<GivenHeaders>> = {
  object: (pairs) => Object.fromEntries(pairs),
  'without prototype': (pairs) => Object.assign(Object.create(null), Object.fromEntries(pairs)),
  Map: (pairs) => new Map(pairs as [string, string][]),
  pairs: (pairs) => pairs as [string, string][],
  rawHeaders: (pairs) => pairs.flat() as string[],
  'get() in any case': (pairs) => ({
    get: (name: string) => pairs.find(([own]) => own.toLowerCase() === name.toLowerCase())?.[1],
  }),
  promise: async (pairs) => Object.fromEntries(pairs),
}
function title(name: string) {
  return name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
}
function mixed(name: string) {
  return [...name].map((letter, i) => (i % 3 === 0 ? letter.toUpperCase() : letter)).join('')
}

it('verifyWebhook takes headers in any case, shape and order', async () => {
  const event = JSON.parse(body)
  const holds = async (
    cases: (keyof typeof inCase)[],
    values: (keyof typeof asValue)[],
    shape: string,
    isReversed: boolean,
    isRotating: boolean,
    joined: string,
  ) => {
    const sent = isRotating ? deliver('the next one', Date.now(), secret) : deliver()
    sent['webhook-signature'] = `v1a,other${joined}${sent['webhook-signature']!.replace(/ /g, joined)}`
    const pairs = [...NAMES, 'content-type'].map(
      (name, i) => [inCase[cases[i]!](name), asValue[values[i]!](sent[name] ?? 'x')] as const,
    )
    const given = asHeaders[shape]!(isReversed ? pairs.reverse() : pairs)
    expect(await verifyWebhook(body, given, secret)).toEqual(event)
    const wrong = verifyWebhook(`${body} `, asHeaders[shape]!(pairs), secret)
    await expect(wrong).rejects.toThrow('The webhook was not signed with this secret.')
  }
  const four = (of: object) => fc.array(fc.constantFrom(...Object.keys(of)), { minLength: 4, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(
      four(inCase) as fc.Arbitrary<(keyof typeof inCase)[]>,
      four(asValue) as fc.Arbitrary<(keyof typeof asValue)[]>,
      fc.constantFrom(...Object.keys(asHeaders)),
      fc.boolean(),
      fc.boolean(),
      fc.constantFrom(' ', ', ', ',', '  '),
      holds,
    ),
    { numRuns: times(2_000, 200) },
  )
})

it('verifyWebhook takes signatures as a list, and requests that have get()', async () => {
  const event = JSON.parse(body)
  const headers = deliver('the next one', Date.now(), secret)
  const signatures = headers['webhook-signature']!.split(' ')
  expect(signatures).toHaveLength(2)
  expect(await verifyWebhook(body, { ...headers, 'webhook-signature': signatures }, secret)).toEqual(event)
  // As of Koa and Express.
  const request = { headers, get: (name: string) => headers[name.toLowerCase()] ?? '' }
  expect(await verifyWebhook(body, request, secret)).toEqual(event)
})

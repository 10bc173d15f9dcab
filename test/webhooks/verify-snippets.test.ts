import { describe, expect, it } from 'vitest'
import { buildHeaders } from '../../server/webhooks/send/message.ts'
import type { Delivery } from './verify-snippets.ts'
import { languages, page } from './verify-snippets.ts'

const body = '{"id":"e1","type":"webhook.test","data":{"name":"Zoë 😀"}}'
const SECRET = 's3cret'

/** A delivery sent some time ago, as the service sends it. */
function delivery(secondsAgo = 0, secret = SECRET, former: string | null = null): Delivery {
  const headers = buildHeaders({ id: 'd1', url: '', secret, former, body }, '', Date.now() - secondsAgo * 1_000)
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)])
  return { body, headers: Object.fromEntries(texts), secret: SECRET, tolerance: 300 }
}

/** A changed copy. */
const changed = ({ headers, ...rest }: Delivery, more: Record<string, string>) => ({
  ...rest,
  headers: { ...headers, ...more },
})

const fresh = delivery()
const standard = `whsec_${Buffer.from('0123456789abcdef').toString('base64')}`
const signed = fresh.headers['webhook-signature']!

const cases: Record<string, [Delivery, string]> = {
  'a delivery': [fresh, 'webhook.test'],
  'one of four minutes ago': [delivery(240), 'webhook.test'],
  'one with two signatures': [{ ...delivery(0, standard), secret: standard }, 'webhook.test'],
  'one with a new secret, signed with this one as well': [delivery(0, 'new', SECRET), 'webhook.test'],
  'one with this secret, signed with a former one as well': [delivery(0, SECRET, 'former'), 'webhook.test'],
  'one whose secrets are both others': [delivery(0, 'new', standard), 'wrong signature'],
  'one whose second signature is right': [changed(fresh, { 'webhook-signature': `v1,AAAA ${signed}` }), 'webhook.test'],
  'a changed body': [{ ...fresh, body: body.replace('Zoë', 'Zoe') }, 'wrong signature'],
  'another secret': [delivery(0, 'other'), 'wrong signature'],
  'another webhook-id': [changed(fresh, { 'webhook-id': 'd2' }), 'wrong signature'],
  'another time': [
    changed(delivery(400), { 'webhook-timestamp': fresh.headers['webhook-timestamp']! }),
    'wrong signature',
  ],
  'a signature that is cut off': [changed(fresh, { 'webhook-signature': signed.slice(0, -1) }), 'wrong signature'],
  'an empty signature': [changed(fresh, { 'webhook-signature': '' }), 'wrong signature'],
  'one of six minutes ago': [delivery(360), 'too old'],
  'one from the future': [delivery(-360), 'too old'],
}

/** The delivery that the page shows for other languages. */
function shown(): Delivery {
  const of = (name: string) => new RegExp(`^\\| ${name} \\| \`(.*)\` \\|$`, 'm').exec(page)![1]!
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
  const headers = Object.fromEntries(names.map((name) => [name, of(`\`${name}\``)]))
  return { body: of('Body'), headers, secret: of('Secret'), tolerance: 1e10 }
}

describe.each(languages)('the function for $language in docs/webhooks.md', ({ language, verify, missing }) => {
  it('accepts what the service has sent, and refuses everything else', async ({ skip }) => {
    if (missing) skip(`${language} is not installed here.`)
    const names = Object.keys(cases)
    const outcomes = await verify(names.map((name) => cases[name]![0]))
    expect(names.map((name, n) => [name, outcomes[n]])).toEqual(names.map((name) => [name, cases[name]![1]]))
  })

  it('accepts the delivery that the page shows', async ({ skip }) => {
    if (missing) skip(`${language} is not installed here.`)
    expect(await verify([shown()])).toEqual(['webhook.test'])
  })

  it('refuses a delivery without the headers', async ({ skip }) => {
    if (missing) skip(`${language} is not installed here.`)
    expect(await verify([{ ...fresh, headers: { 'content-type': 'application/json' } }])).not.toEqual(['webhook.test'])
  })
})

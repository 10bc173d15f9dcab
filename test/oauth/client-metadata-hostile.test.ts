import type { ServerResponse } from 'node:http'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { memoryLimits } from '../../server/limits/memory.ts'
import { clientDocuments } from '../../server/oauth/engine/client-documents.ts'
import { authWorld, issuer } from './auth-world.ts'
import { documentWorld, redirectUri, respondWith, scope, startDocumentWorld } from './document-world.ts'

const here = documentWorld()
const off = authWorld()
// Minutes of limits begin again.
beforeEach(() => here.world.advance(61))

const NOTHING = { teams: [], apps: [], clients: [] }

/** Asks for a sign-in with a client of this id. Returns the page's status, and what it says is wrong. */
async function refusal(client: string, more: Record<string, string> = {}) {
  const { url } = here.authorizeUrl({ client, scope, redirectUri, more })
  const page = await here.newBrowser().open(url)
  expect(page.location).toBeUndefined()
  const [, detail] = /the client metadata document: ([^<]*)/.exec(page.text.replaceAll(/<\/?bdi>/g, '')) ?? []
  return [page.status, detail]
}
const asked = (address: string) => here.asked().filter((one) => one === address).length
let number = 0
const nextAddress = (name?: string) => here.at(`/${++number}.json`, name)

const TOO_MANY = 'too many documents were read: try again in a minute'
const UNREADABLE = 'it cannot be read from a public address, or has more than 5 KiB'
const uri = (address: string) => `${address} cannot be a redirect URI`

describe('an address', () => {
  it.each([
    ['of http', () => 'http://tool.example/client.json'],
    ['without a path', () => here.at('/')],
    ['with a user name', () => here.at('/client.json').replace('https://', 'https://user@')],
    ['with a password', () => here.at('/client.json').replace('https://', 'https://user:pass@')],
    ['with a fragment', () => here.at('/client.json#fragment')],
    ['with dot segments', () => here.at('/a/../client.json')],
    ['with encoded dot segments', () => here.at('/a/%2e%2e/client.json')],
    ['with its host in capitals', () => here.at('/client.json').replace(here.host, here.host.toUpperCase())],
    ['with a dot after its host', () => here.at('/client.json').replace(here.host, `${here.host}.`)],
    ['with an IP address', () => here.at('/client.json', '127.0.0.1')],
    ['with an IPv6 address', () => here.at('/client.json', '[::1]')],
    ['with a host in Unicode', () => here.at('/client.json', 'bücher.example')],
    ['with white space', () => here.at('/client.json ')],
    ['with a backslash', () => here.at('\\client.json')],
    ['with NUL', () => here.at('/client.json\0')],
    ['of 256 characters', () => here.at('/').padEnd(256, 'a')],
    ['of 3,000 characters', () => here.at('/').padEnd(3_000, 'a')],
  ])('%s is not asked for', async (_, toAddress) => {
    const before = here.received.length
    expect((await refusal(toAddress()))[0]).toBe(400)
    expect(here.received).toHaveLength(before)
    expect(await here.rows()).toEqual(NOTHING)
  })

  it.each([
    ['private', ['10.0.0.1']],
    ['loopback, where it is not allowed', ['127.0.0.2']],
    ['link-local', ['169.254.169.254']],
    ['private beside a public one', ['93.184.215.14', '192.168.0.1']],
    ['mapped', ['::ffff:10.0.0.1']],
    ['none', []],
  ])('whose name is %s is refused as one that cannot be read', async (_, addresses) => {
    const client = here.publish(nextAddress(here.other))
    here.addresses.set(here.other, addresses)
    expect(await refusal(client)).toEqual([400, UNREADABLE])
    here.addresses.delete(here.other)
    expect(asked(client)).toBe(0)
    expect(await here.rows()).toEqual(NOTHING)
  })

  it('of 255 characters, and one with a host in Punycode, is asked for', async () => {
    const punycode = nextAddress('xn--bcher-kva.example')
    for (const client of [here.at('/').padEnd(255, 'a'), punycode]) {
      const { page } = await here.ask(here.publish(client))
      expect(page.text).toContain(new URL(client).host)
    }
  })
})

describe('a document is refused, and nothing stored, that', () => {
  it.each([
    ['is elsewhere', () => respondWith('', { location: here.publish(nextAddress()) }, 302), 'its status is 302'],
    ['has 6 KiB', () => respondWith(`{"a":"${'a'.repeat(6_144)}"}`), UNREADABLE],
    ['does not end', () => endless, UNREADABLE],
    ['is HTML', () => respondWith('{}', { 'content-type': 'text/html' }), 'it is not application/json'],
    [
      'is text that a host stores for others',
      () => respondWith('{}', { 'content-type': 'text/plain' }),
      'it is not application/json',
    ],
    ['is compressed', () => respondWith('\x1f\x8b', { 'content-encoding': 'gzip' }), 'it is not JSON'],
    ['is empty', () => respondWith(''), 'it is not JSON'],
    ['is no object', () => respondWith('[]'), 'its client_id is not its address'],
    ['is null', () => respondWith('null'), 'its client_id is not its address'],
    ['has no client_id', () => respondWith('{}'), 'its client_id is not its address'],
  ])('%s', async (_, toResponse, reason) => {
    const client = nextAddress()
    here.responses.set(client, toResponse())
    expect(await refusal(client)).toEqual([400, reason])
    expect(asked(client)).toBe(1)
    expect(await here.rows()).toEqual(NOTHING)
  })

  it.each<[string, Record<string, unknown>, string | RegExp]>([
    ['has another client_id', { client_id: 'https://tool.example/client.json' }, 'its client_id is not its address'],
    ['has a secret', { client_secret: 'secret' }, 'token_endpoint_auth_method must be none'],
    ...['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'tls_client_auth', 1].map(
      (token_endpoint_auth_method): [string, Record<string, unknown>, string] => [
        `authenticates by ${token_endpoint_auth_method}`,
        { token_endpoint_auth_method },
        'token_endpoint_auth_method must be none',
      ],
    ),
    ['has no redirect URI', { redirect_uris: [] }, 'A client needs a redirect URI, unless it signs in on devices.'],
    ['has a text of them', { redirect_uris: redirectUri }, /^A client needs/],
    ['has an object among them', { redirect_uris: [redirectUri, {}] }, 'redirect_uris is not a list of addresses'],
    ...[
      'javascript:alert(1)',
      'data:text/html,x',
      'http://tool.example/back',
      'https://user@tool.example/back',
      'https://tool.example/back#x',
      'https://*.tool.example/back',
      'tool:/back',
    ].map((one): [string, Record<string, unknown>, RegExp] => [
      `redirects to ${one}`,
      { redirect_uris: [redirectUri, one] },
      new RegExp(`^${uri(one).replaceAll(/[.*+?()]/g, '\\$&')}`),
    ]),
    ['has a name that is no text', { client_name: { en: 'Tool' } }, 'client_name is not a text'],
    ['has an empty name', { client_name: '' }, /^The name of the client must be 1 to 100/],
    ['has a name of 101 characters', { client_name: 'a'.repeat(101) }, /^The name of the client must be 1 to 100/],
    ['has a name of two lines', { client_name: 'Tool\nreviewed' }, /^The name of the client must be 1 to 100/],
    ['has a name with an override', { client_name: 'Tool\u202e' }, /^The name of the client has U\+202E/],
  ])('%s', async (_, fields, reason) => {
    const client = here.publish(nextAddress(), fields)
    const [status, detail] = await refusal(client)
    expect(status).toBe(400)
    expect(detail).toMatch(typeof reason === 'string' ? new RegExp(`^${reason}$`) : reason)
    expect(await here.rows()).toEqual(NOTHING)
  })

  it('names its client_id twice, and another one last', async () => {
    const client = nextAddress()
    const names = `"client_id":"${client}","redirect_uris":["${redirectUri}"],"client_id":"https://tool.example/x"`
    here.responses.set(client, respondWith(`{${names}}`))
    expect(await refusal(client)).toEqual([400, 'its client_id is not its address'])
  })

  it('comes too slowly, or not at all', async () => {
    const [slow, never] = [nextAddress(), nextAddress()]
    here.responses.set(slow, (response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{'))
    here.responses.set(never, () => {})
    expect(await Promise.all([slow, never].map((one) => refusal(one)))).toEqual([
      [400, UNREADABLE],
      [400, UNREADABLE],
    ])
  })
})

const endless = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const more = () => {
    while (!response.destroyed && response.write(' '.repeat(1_024)));
  }
  response.on('drain', more)
  more()
}

it('a document sets no metadata of this service', async () => {
  const own = { allowed_scopes: ['lms.me.quizzes:read'], suspended: false, sandbox: true, secrets: [{ hash: 'x' }] }
  const more = {
    scope: 'openid',
    grant_types: ['client_credentials', 'implicit'],
    post_logout_uris: ['https://x.example/'],
  }
  const client = here.publish(nextAddress(), { ...own, ...more, jwks_uri: nextAddress(), logo_uri: 'javascript:x' })
  const { url } = here.authorizeUrl({ client, scope: 'lms.me.quizzes:read', redirectUri })
  const page = await here.newBrowser().open(url)
  expect(page.location!.searchParams.get('error')).toBe('invalid_scope')
  const consent = await here.ask(client)
  expect(consent.page.text).not.toMatch(/Test client|javascript:|<img/)
})

it('nothing is stored, nor asked for, by requests for tokens, devices and sign-outs without a document', async () => {
  const client = nextAddress()
  const token = await here.token({ grant_type: 'refresh_token', client_id: client, refresh_token: 'x' })
  expect([token.status, token.json.error]).toEqual([400, 'invalid_client'])
  const basic = { authorization: `Basic ${Buffer.from(`${encodeURIComponent(client)}:`).toString('base64')}` }
  expect((await here.token({ grant_type: 'refresh_token', refresh_token: 'x' }, basic)).status).toBeGreaterThanOrEqual(
    400,
  )
  expect((await here.app.post(`${issuer}/device/auth`, { client_id: client, scope })).status).toBeGreaterThanOrEqual(
    400,
  )
  const before = here.received.length
  expect((await here.app.get(`${issuer}/end-session?client_id=${encodeURIComponent(client)}`)).status).toBe(400)
  expect(here.received).toHaveLength(before)
  expect(asked(client)).toBe(1)
  expect(await here.rows()).toEqual(NOTHING)
})

it('a member who refuses leaves nothing', async () => {
  const client = here.publish(nextAddress())
  const { page, browser } = await here.ask(client)
  const back = await browser.submit(page, 'consent', { decision: 'refuse' })
  expect(back.location!.searchParams.get('error')).toBe('access_denied')
  expect(await here.rows()).toEqual(NOTHING)
})

it('twenty hosts that answer with an upgrade keep nobody from other documents', async () => {
  const addresses = Array.from({ length: 20 }, () => nextAddress())
  const upgrade = { connection: 'upgrade', upgrade: 'x' }
  for (const client of addresses) here.responses.set(client, (response) => response.writeHead(101, upgrade).end())
  const refusals = await Promise.all(addresses.map((client) => refusal(client)))
  expect(refusals).toEqual(addresses.map(() => [400, UNREADABLE]))
  expect((await here.ask(here.publish(nextAddress()))).page.text).toContain('Tool')
})

it('a network has 30 documents read a minute', async () => {
  const addresses = Array.from({ length: 31 }, () => nextAddress())
  const details: unknown[] = []
  for (const client of addresses) details.push((await refusal(client))[1])
  expect(details.filter((one) => one === 'its status is 404')).toHaveLength(30)
  expect(details.at(-1)).toBe(TOO_MANY)
  expect(asked(addresses.at(-1)!)).toBe(0)
})

it('a host is asked for 60 documents a minute by all networks, and 20 are read at once', async () => {
  const known = 'https://tool.example/known.json'
  const text = JSON.stringify({ client_id: known, redirect_uris: [redirectUri] })
  const answer = { status: 200, headers: { 'content-type': 'application/json' }, text }
  const get = (address: string) => (address === known ? Promise.resolve(answer) : new Promise<never>(() => {}))
  const documents = clientDocuments({ get, now: () => 0, limits: memoryLimits(() => 0) })
  const find = (at: number, host: string) => documents.findRefusal(`https://${host}/${at}.json`, `192.0.2.${at}`)
  const found = await Promise.all(Array.from({ length: 61 }, (_, at) => find(at, 'tool.example')))
  expect(found).toEqual([...Array(60).fill(null), TOO_MANY])
  expect(await find(62, 'other.example')).toBeNull()
  const { signal } = new AbortController()
  await documents.fetch(known, signal)
  for (let at = 0; at < 20; at++) void documents.fetch(`https://other.example/${at}.json`, signal)
  expect(await find(63, 'other.example')).toBe(TOO_MANY)
  // It has been read before.
  expect(await documents.findRefusal(known, '192.0.2.1')).toBeNull()
})

describe('documents that were read before', () => {
  const address = (at: number) => `https://tool-${at}.example/client.json`
  let time: number
  let host: 'answers' | 'hangs' | 'fails'
  let read: string[]
  let documents: ReturnType<typeof clientDocuments>
  beforeEach(() => {
    time = 1
    host = 'answers'
    read = []
    const get = (client: string) => {
      read.push(client)
      if (host === 'hangs') return new Promise<never>(() => {})
      if (host === 'fails') return Promise.reject(new Error('down'))
      const text = JSON.stringify({ client_id: client, redirect_uris: [redirectUri] })
      return Promise.resolve({ status: 200, headers: { 'content-type': 'application/json' }, text })
    }
    documents = clientDocuments({ get, now: () => time, limits: memoryLimits(() => time) })
  })
  const fetch = (at: number) => documents.fetch(address(at), new AbortController().signal)
  /** As oidc-provider asks. */
  const ask = async (at: number, network: string) => {
    const reason = await documents.findRefusal(address(at), network)
    if (reason !== null) return reason
    const { client_id } = (await (await fetch(at)).json()) as { client_id: string }
    return client_id
  }
  const all = Array.from({ length: 200 }, (_, at) => at)
  const readAll = async () => {
    for (const at of all) await fetch(at)
    read = []
  }

  it('are not read again for a minute, though they are more than oidc-provider caches', async () => {
    await readAll()
    time += 59_999
    for (const at of all) expect(await ask(at, '192.0.2.1')).toBe(address(at))
    expect(read).toEqual([])
    time++
    expect(await ask(0, '192.0.2.1')).toBe(address(0))
    expect(read).toEqual([address(0)])
  })

  it('count for the limits once they are read again, beyond which the last one counts for an hour', async () => {
    await readAll()
    time += 60_000
    for (const at of all) expect(await ask(at, '192.0.2.1')).toBe(address(at))
    expect(read).toEqual(all.slice(0, 30).map(address))
    time += 3_540_000
    const asked = []
    for (const at of all.slice(100, 131)) asked.push(await ask(at, '192.0.2.2'))
    expect(asked).toEqual([...all.slice(100, 130).map(address), TOO_MANY])
  })

  it('are read 20 at once, where their hosts do not answer', async () => {
    await readAll()
    time += 60_000
    host = 'hangs'
    for (const at of all.slice(0, 20)) {
      expect(await documents.findRefusal(address(at), '192.0.2.1')).toBeNull()
      void fetch(at)
    }
    expect(await ask(20, '192.0.2.2')).toBe(address(20))
    expect(read).toHaveLength(20)
    time += 3_540_000
    expect(await ask(21, '192.0.2.2')).toBe(TOO_MANY)
  })

  it('are not read again for a minute after their host failed', async () => {
    await fetch(0)
    host = 'fails'
    for (const [after, reads] of [
      [60_000, 2],
      [59_999, 2],
      [1, 3],
    ] as const) {
      time += after
      expect(await ask(0, '192.0.2.1')).toBe(address(0))
      expect(read).toHaveLength(reads)
    }
  })
})

it('the last good document stands in for a day for one that cannot be read, and not at all once it is gone', async () => {
  const address = 'https://tool.example/client.json'
  const text = JSON.stringify({ client_id: address, redirect_uris: [redirectUri] })
  let [time, status] = [1, 200]
  const get = async () => ({ status, headers: { 'content-type': 'application/json' }, text })
  const documents = clientDocuments({ get, now: () => time, limits: memoryLimits(() => time) })
  expect(documents.cached).toEqual({ min: 60, max: 3_600 })
  const read = (next: number) => {
    status = next
    return documents.fetch(address, new AbortController().signal)
  }
  await read(200)
  time += 86_400_000
  expect(await (await read(503)).json()).toMatchObject({ client_id: address })
  time++
  await expect(read(503)).rejects.toThrow('its status is 503')
  await read(200)
  time += 60_000
  await expect(read(404)).rejects.toThrow('its status is 404')
  await expect(read(503)).rejects.toThrow('its status is 503')
})

it("a refused document is read again after 30 s, also where the database's clock goes back by an hour", async () => {
  let passed = 1
  const there = await startDocumentWorld({ steady: () => passed })
  onTestFinished(() => there.world.close())
  const client = there.at('/client.json')
  const open = async () =>
    (await there.newBrowser().open(there.authorizeUrl({ client, scope, redirectUri }).url)).status
  expect(await open()).toBe(400)
  there.publish(client)
  there.world.advance(-3_600)
  passed += 29_999
  expect(await open()).toBe(400)
  passed += 2
  expect(await open()).toBe(200)
})

it('is off by default: an address is an unknown client, and the metadata does not offer more', async () => {
  const { url } = off.authorizeUrl({ client: here.publish(nextAddress()), scope, redirectUri })
  const before = here.received.length
  const page = await off.newBrowser().open(url)
  expect([page.status, page.text.includes('client is invalid')]).toEqual([400, true])
  const metadata = await off.app.get(`${issuer}/.well-known/openid-configuration`)
  expect(metadata.json).not.toHaveProperty('client_id_metadata_document_supported')
  expect(here.received).toHaveLength(before)
})

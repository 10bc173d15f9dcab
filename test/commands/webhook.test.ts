import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { attempt } from '../../server/commands/webhook/attempt.ts'
import { id } from '../support/tenant.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { languages } from '../webhooks/verify-snippets.ts'
import { misused, run } from './run.ts'

const SECRET = 's3cret'
const [{ verify }] = languages as [(typeof languages)[0]]

interface Received {
  headers: IncomingHttpHeaders
  body: string
}

/** Verifies as docs/webhooks.md says: 204 or 401, or any other `status`. */
async function receiver(status?: number, answer?: string) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const { headers } = request
    received.push({ headers, body })
    const delivery = { body, headers: headers as Record<string, string>, secret: SECRET, tolerance: 300 }
    const [outcome] = await verify([delivery])
    const refused = /too old|wrong signature/.test(outcome!)
    response.writeHead(status ?? (refused ? 401 : 204)).end(answer ?? (refused ? outcome : undefined))
  })
  const { port, close } = await listening(server)
  return { url: `http://127.0.0.1:${port}/hook`, received, close }
}

async function listening(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(close)
  return { port: (server.address() as AddressInfo).port, close }
}

function* endless() {
  for (;;) yield 'x'.repeat(4_096)
}

const send = (to: string, ...more: string[]) => run(['webhook', 'send', '--to', to, ...more], {})
const signed = (to: string, ...more: string[]) => send(to, '--secret', SECRET, ...more)

const withAnswer = (answer: string) => expect.stringMatching(new RegExp(`^[0-9a-f-]{36}: ${answer}\n$`))

describe('the webhook command', () => {
  it("prints a receiver's answer without what acts on a terminal", async () => {
    const { url } = await receiver(200, 'one\u001b[2K\ntwo\u009b\u202e')
    const { stdout } = await send(url)
    expect(stdout).toEqual(withAnswer('200 in \\d+ ms\none\\\\u001b\\[2K\ntwo\\\\u009b\\\\u202e'))
  })

  it('sends an event with its signature, as a delivery has it', async () => {
    const { url, received } = await receiver()
    const data = '{"n": 9007199254740993, "name": "Zoë"}'
    const done = await signed(url, '--type', 'member.joined', '--data', data)
    expect(done).toEqual({ code: 0, stdout: withAnswer('204 in \\d+ ms'), stderr: '' })
    const [{ headers, body }] = received as [Received]
    expect(body).toMatch(/^\{"id":"[0-9a-f-]{36}","type":"member\.joined","timestamp":"[^"]+Z","data":(.*)\}$/)
    expect(body.endsWith(`"data":${data}}`)).toBe(true)
    // The headers of a delivery, as test/webhooks/send.test.ts has them, and no more.
    expect(headers).toEqual({
      host: new URL(url).host,
      connection: 'keep-alive',
      accept: '*/*',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': 'member-apps-api-webhooks/1',
      'webhook-id': done.stdout.slice(0, 36),
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'webhook-signature': expect.stringMatching(/^v1,/),
      'x-webhook-secret': SECRET,
    })
  })

  it.each<[string, number | undefined, (response: ServerResponse) => void]>([
    ['sends without end', undefined, (response) => void pipeline(endless(), response).catch(() => {})],
    ['begins and never ends', 2_000, (response) => void response.write('xx')],
  ])('has delivered to a receiver whose body %s', async (_, timeoutMs, answer) => {
    const server = createServer((_, response) => answer(response.writeHead(200)))
    const { port } = await listening(server)
    const message = { id: 'd', url: `http://127.0.0.1:${port}/`, secret: null, body: '{}' }
    const made = await attempt(message, Date.now(), timeoutMs)
    expect(made).toMatchObject({ outcome: 'accepted', status: 200, answer: expect.stringMatching(/^x{2,1024}$/) })
  })

  it('says at once that the receiver answered with an upgrade, and closed', async () => {
    const server = createServer((_, response) => response.writeHead(101, { connection: 'upgrade', upgrade: 'x' }).end())
    const { port } = await listening(server)
    const message = { id: 'd', url: `http://127.0.0.1:${port}/`, secret: null, body: '{}' }
    expect(await attempt(message, Date.now(), 300_000)).toMatchObject({ status: null, answer: '(connection closed)' })
  })

  it('says after which time there was no response', async () => {
    const { port } = await listening(createServer(() => {}))
    const message = { id: 'd', url: `http://127.0.0.1:${port}/`, secret: null, body: '{}' }
    expect(await attempt(message, Date.now(), 50)).toMatchObject({ status: null, answer: 'within 0.05 s' })
  })

  it('sends webhook.test with its example by default, without a secret unsigned', async () => {
    const { url, received } = await receiver(200)
    expect((await send(url)).code).toBe(0)
    const [{ headers, body }] = received as [Received]
    expect(JSON.parse(body)).toMatchObject({ type: 'webhook.test', data: { message: 'This is a test event.' } })
    expect(Object.keys(headers)).not.toContain('webhook-signature')
  })

  it('sends the example that the platform has described with --provider', async () => {
    const env = { DATABASE_URL: inject('databaseUrl') }
    const db = openTestDatabase(env.DATABASE_URL)
    onTestFinished(() => db.$disconnect())
    const provider = id('provider')
    await db.organisation.create({ data: { id: provider, kind: 'provider', name: 'P' } })
    await db.eventKind.create({ data: { providerId: provider, type: 'member.joined', description: 'd', example: [1] } })
    const { url, received } = await receiver(200)
    const flags = ['--provider', provider, '--type']
    const sent = await run(['webhook', 'send', '--to', url, ...flags, 'member.joined'], env)
    expect([sent.code, sent.stderr]).toEqual([0, ''])
    expect(JSON.parse(received[0]!.body)).toMatchObject({ type: 'member.joined', data: [1] })
    const unknown = await run(['webhook', 'send', '--to', url, ...flags, 'member.moved'], env)
    expect([unknown.code, unknown.stderr]).toEqual([1, `No event type member.moved is described for ${provider}.\n`])
    expect(received).toHaveLength(1)
  })

  it.each([
    ['--wrong-signature', 'wrong signature'],
    ['--old', 'too old'],
  ])('succeeds with %s when the receiver refuses it', async (option, reason) => {
    const { url, received } = await receiver()
    expect(await signed(url, option)).toEqual({ code: 0, stdout: withAnswer(`401 in \\d+ ms\n${reason}`), stderr: '' })
    const { headers } = received[0]!
    expect(headers['x-webhook-secret'] === SECRET).toBe(option === '--old')
  })

  it('sends the same delivery twice with --twice', async () => {
    const { url, received } = await receiver()
    expect((await signed(url, '--twice')).code).toBe(0)
    expect(received).toHaveLength(2)
    const [first, second] = received.map(({ headers, body }) => [headers['webhook-id'], body])
    expect(second).toEqual(first)
  })

  it.each([
    [200, '--wrong-signature', 'refused'],
    [200, '--old', 'refused'],
    [500, '--old', 'refused'],
    [401, '--twice', 'accepted'],
    [302, '--twice', 'accepted'],
  ])('fails when the receiver answers %s to %s', async (status, option, expected) => {
    const { url } = await receiver(status)
    const { code, stderr } = await signed(url, option)
    expect([code, stderr]).toEqual([1, `The receiver should have ${expected} this.\n`])
  })

  it('fails when nothing listens there', async () => {
    const { url, close } = await receiver()
    close()
    const { code, stdout } = await signed(url)
    // Deno's fetch tells no code.
    const reason = 'Deno' in globalThis ? '.+' : 'ECONNREFUSED'
    expect([code, stdout]).toEqual([1, withAnswer(`no response \\(${reason}\\)`)])
  })

  it.each([
    [[], '--to is required.'],
    [['--to', 'http://a:b@127.0.0.1'], '--to must have no user name or password.'],
    [['--to', 'ftp://127.0.0.1'], '--to must be an http or https address.'],
    [['--to', 'http://a', '--type', 'a/b'], "--type must be 1 to 128 letters, digits, '.', '_' or '-'."],
    [['--to', 'http://a', '--data', '{'], '--data must be JSON.'],
    [['--to', 'http://a', '--data', '1', '--provider', 'p'], '--provider supplies the data: omit --data.'],
    [['--to', 'http://a', '--secret', 'a b'], '--secret must be 1 to 1024 visible ASCII characters, without spaces.'],
    [['--to', 'http://a', '--old'], '--wrong-signature and --old require --secret.'],
  ])('refuses %j', async (args, message) => {
    expect(await run(['webhook', 'send', ...args], {})).toEqual(misused(message))
  })
})

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { loopbackIssuer } from '../oauth/loopback-issuer.ts'
import { endAfterAll } from '../support/after-all.ts'
import { migratedDatabase } from '../support/databases.ts'
import type { Service } from './service.ts'
import {
  annaIn,
  asAnna,
  command,
  dataDirectoryWithDemo,
  externalSettings,
  issueToken,
  send,
  start,
  until,
} from './service.ts'

const headers = { host: 'auth.localhost' }
const connected = '/v1/oauth/connected'

/** One without settings, and one that has these. */
const services: { plain: Service; set: Service } = {} as never
const atEnd = endAfterAll()
beforeAll(async () => {
  const begin = async (settings: Record<string, string> = {}) =>
    start({ ...(await externalSettings(migratedDatabase, atEnd)), ...settings }, { atEnd })
  const settings = {
    CLUB_APPROVAL: 'true',
    CONSENT_AGE: '16,AT:14',
    CLIENT_METADATA: 'true',
    TRUSTED_PROXIES: '127.0.0.0/8',
  }
  const [plain, set] = await Promise.all([begin(), begin(settings)])
  Object.assign(services, { plain, set })
})

it.each(['NODE_ENV=production', 'DATABASE_URL'])('the development login returns 404 with %s', async (setting) => {
  const trial = async () => start({ DATA_DIR: await dataDirectoryWithDemo(), NODE_ENV: 'production' })
  const { port } = setting === 'DATABASE_URL' ? services.plain : await trial()
  const page = await send(port, 'GET', connected, { headers })
  expect([page.status, page.text.includes(`${connected}/pick`)]).toEqual([200, false])
  const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  expect((await send(port, 'POST', `${connected}/pick`, { headers: form })).status).toBe(404)
})

it.each([
  ['set', 200],
  ['plain', 404],
] as const)(
  'the pages on which clubs and guardians decide with CLUB_APPROVAL and CONSENT_AGE %s are %i',
  async (name, status) => {
    for (const page of ['club', 'family'])
      expect((await send(services[name].port, 'GET', `/v1/oauth/${page}`, { headers })).status).toBe(status)
  },
)

it.each([
  ['set', true],
  ['plain', undefined],
] as const)('the metadata offers clients of a document with CLIENT_METADATA %s: %s', async (name, offers) => {
  const { body } = await send(services[name].port, 'GET', '/v1/oauth/.well-known/openid-configuration', { headers })
  expect(body.client_id_metadata_document_supported).toBe(offers)
})

it.each([
  ['production', 0],
  ['development', 1],
])(
  'WEBHOOK_ALLOW lets documents of clients come from this machine with NODE_ENV=%s: %i connection',
  async (mode, count) => {
    let connections = 0
    const receiver = createServer((socket) => {
      connections++
      socket.destroy()
    })
    await once(receiver.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void receiver.close())
    const settings = { CLIENT_METADATA: 'true', WEBHOOK_ALLOW: '127.0.0.0/8', NODE_ENV: mode }
    const { port } = await start({ ...(await externalSettings()), ...settings })
    const client = `https://localhost:${(receiver.address() as AddressInfo).port}/client.json`
    const query = new URLSearchParams({ client_id: client, response_type: 'code', redirect_uri: 'https://a.example/b' })
    const { status } = await send(port, 'GET', `/v1/oauth/authorize?${query}`, { headers })
    expect([status, connections]).toEqual([400, count])
  },
)

it.each([
  ['are counted one by one', 'set', 400],
  ['are counted together without TRUSTED_PROXIES', 'plain', 429],
] as const)('clients behind a reverse proxy %s', async (_, name, otherStatus) => {
  const ask = async (client: string) => {
    const from = { ...headers, 'x-forwarded-for': client }
    return (await send(services[name].port, 'GET', '/v1/oauth/authorize', { headers: from })).status
  }
  const answers = await Promise.all(Array.from({ length: 300 }, () => ask('198.51.100.7')))
  expect(new Set(answers)).toEqual(new Set([400]))
  expect(await ask('198.51.100.7')).toBe(429)
  expect(await ask('198.51.100.8')).toBe(otherStatus)
})

it('the service starts while its issuer is down, and trusts no other issuer', async () => {
  const issuer = await loopbackIssuer()
  onTestFinished(issuer.down)
  const own = await externalSettings()
  const env = { ...own, TOKEN_ISSUER: issuer.issuer, TOKEN_AUDIENCE: 'urn:example' }
  await command('seed', [], env).ended
  const exp = Math.floor(Date.now() / 1000) + 3600
  const claims = { sub: 'anna', organisation: 'riverside', client_id: 'trainer-app', aud: 'urn:example', exp }
  const token = () => issuer.sign({ ...claims, scope: 'svc.me.profile:read', jti: crypto.randomUUID() })

  await issuer.down()
  const service = await start(env)
  const profile = async () => asAnna(service, 'GET', '/me/profile', undefined, await token())
  const internal = async (path: string) => (await send(service.internalPort, 'GET', path)).status
  expect(service.stdout()).not.toContain('curl')
  expect([await internal('/readyz'), await internal('/healthz')]).toEqual([503, 200])
  expect(await profile()).toMatchObject({ status: 503, headers: { 'retry-after': '2' } })

  await issuer.up()
  await until(
    () => internal('/readyz'),
    (status) => status === 200,
  )
  expect(await profile()).toMatchObject({ status: 200, body: { id: 'anna' } })
  const development = await issueToken({ DATA_DIR: own.DATA_DIR }, ...annaIn('riverside'))
  expect((await asAnna(service, 'GET', '/me/profile', undefined, development)).status).toBe(401)
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
  expect(service.stdout()).not.toMatch(/eyJ/)
})

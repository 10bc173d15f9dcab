import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { hashOfSecret, newClientSecret } from '../../routers/developer/secrets/client-secret.ts'
import { asPerson } from '../developer/team.ts'
import { addPeople } from '../developer/team-world.ts'
import { redirectUri, register, startAuthWorld } from '../oauth/auth-world.ts'
import { Browser } from '../oauth/browser.ts'
import { endAfterAll } from '../support/after-all.ts'
import { demoConsent } from '../support/app-server.ts'
import { migratedDatabase } from '../support/databases.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { authBaseUrl } from '../support/world.ts'
import type { Service } from './service.ts'
import { command, dataDirectoryWithDemo, externalSettings, send, start } from './service.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

/** The code of a page in a language, of all sections or of the one whose heading begins so. */
async function readCode(page: string, language: string, heading = '') {
  const sections = (await readFile(join(root, 'docs', page), 'utf8')).split('\n## ')
  return [
    ...sections
      .filter((text) => text.startsWith(heading))
      .join('\n## ')
      .matchAll(/```(\w+)\n(.*?)```/gs),
  ]
    .filter(([, written]) => written === language)
    .map(([, , text]) => text!)
}

/** What a shell prints for a line. */
async function sh(line: string, more: Record<string, string> = {}, cwd = root) {
  const { stdout } = await run('bash', ['-c', line], { cwd, env: { ...process.env, ...more } })
  return stdout
}
const silently = (line: string) => line.replaceAll('curl ', 'curl --silent ')

describe('by the documented lines, in production,', () => {
  const atEnd = endAfterAll()
  let env: Record<string, string> & Awaited<ReturnType<typeof externalSettings>>
  let service: Service
  let AUTH_BASE_URL: string
  beforeAll(async () => {
    env = { ...(await externalSettings(migratedDatabase, atEnd)), NODE_ENV: 'production' }
    await command('seed', ['--yes'], env).ended
    service = await start(env, { atEnd })
    AUTH_BASE_URL = `http://auth.localhost:${service.port}/v1`
  })

  it('the server of an app sets a rule and stores an entry', async () => {
    const secret = newClientSecret()
    const db = openTestDatabase(env.DATABASE_URL)
    await db.consent.create({ data: demoConsent })
    const [createdAt, expiresAt] = [new Date(), new Date(Date.now() + 86_400_000)]
    const secrets = { create: { id: 'secret', hash: hashOfSecret(secret), createdAt, expiresAt } }
    const data = { authentication: 'client_secret' as const, redirectUris: ['https://app.example/'], secrets }
    await db.client.update({ where: { id: 'trainer-app' }, data })
    const urls = { AUTH_BASE_URL, SYNC_BASE_URL: `http://sync.localhost:${service.port}/v1` }
    const [granting, calling] = await readCode('sync.md', 'sh', 'The app itself')
    const { access_token: TOKEN, ...more } = JSON.parse(
      await sh(silently(granting!), { ...urls, CLIENT_ID: 'trainer-app', CLIENT_SECRET: secret }),
    )
    const scope = 'svc.apps.storage:read svc.apps.storage:write'
    expect(more).toEqual({ expires_in: 900, token_type: 'Bearer', scope })
    const answers = await sh(silently(calling!), { ...urls, TOKEN })
    expect(answers).toMatch(/^\{"rule":"app"\}\{"results":\[\{"etag":".+","updatedAt":\d+\}\]\}$/)
    expect(await db.storageEntry.findMany({ where: { collection: 'ranking' } })).toMatchObject([
      { appId: 'trainer-app', clubId: 'riverside', key: 'may', value: '["anna", "ben"]', createdBy: null },
    ])
    await db.$disconnect()
  })

  it('a first-party client gets its tokens, by the printed lines too', async () => {
    const client = async (...args: string[]) => {
      const { code, stdout, stderr } = await command('client', args, { ...env, AUTH_BASE_URL }).ended
      const replaced = '"repeat":"client.credentials"'
      expect([code, stderr]).toEqual([0, args.includes('--replace') ? expect.stringContaining(replaced) : ''])
      return stdout
    }
    const ask = (line: string, more: Record<string, string> = {}, cwd?: string) =>
      sh(`${line.trim()} --silent`, { AUTH_BASE_URL, ...more }, cwd)
    const published = async (answer: string) => {
      const { access_token } = JSON.parse(answer)
      const headers = { authorization: `Bearer ${access_token}` }
      const app = decodeJwt(access_token).organisation === 'provider' ? 'trainer-app' : 'foreign-app'
      const body = { app, type: 'member.joined', data: 1 }
      return (await send(service.internalPort, 'POST', '/trpc/events.publish', { headers, body })).status
    }
    const [add, withSecret, openssl, withAssertion] = await readCode('first-party.md', 'sh')

    /** The arguments of a printed line, as a shell reads them. */
    const readWords = async (line: string) =>
      (await sh(`printf '%s\n' ${line.split('member-apps client ')[1]}`, { AUTH_BASE_URL })).trimEnd().split('\n')
    const printed = (await client(...(await readWords(add!)))).split('\n').find((line) => line.startsWith('curl '))!
    expect(await published(await ask(printed))).toBe(200)
    const CLIENT_SECRET = /billing:([\w-]+)'/.exec(printed)![1]!
    expect(await published(await ask(withSecret!, { CLIENT_SECRET }))).toBe(200)

    const directory = await temporaryDirectory()
    const [generate, publish, ...replace] = openssl!.trim().split('\n')
    await sh(`${generate} && ${publish}`, {}, directory)
    const withKeys = await readWords(replace.join('\n'))
    await client(...withKeys.map((word) => (word === 'billing.pub' ? join(directory, word) : word)))
    // The former secret ends at once.
    expect(JSON.parse(await ask(withSecret!, { CLIENT_SECRET })).error).toBe('invalid_client')
    const script = (await readCode('first-party.md', 'ts')).find((text) => text.includes('SignJWT'))!
    await writeFile(join(directory, 'assertion.mjs'), script.replace("'jose'", `'${import.meta.resolve('jose')}'`))
    const { access_token } = JSON.parse(await ask(withAssertion!, {}, directory))
    const claims = { sub: 'billing', organisation: 'academy', scope: 'lms.reviews:write' }
    expect(decodeJwt(access_token)).toMatchObject(claims)
  })
})

it('a first-party client of a trial gets its tokens at the printed addresses, with a secret and with a key', async () => {
  const env = { DATA_DIR: await dataDirectoryWithDemo() }
  const [service, home] = await Promise.all([start(env), temporaryDirectory()])
  const placed = (text: string) => text.replaceAll(':3000', `:${service.port}`)
  const scope = 'ntf.subscriptions:write ntf.events:write lms.reviews:write'
  const add = ['add', '--first-party', '--id', 'billing', '--name', 'Billing', '--scope', scope]
  const { stdout } = await command('client', add, env).ended
  const [, withSecret, openssl, withAssertion] = await readCode('first-party.md', 'sh')
  const ask = async (line: string, more: Record<string, string> = {}) =>
    JSON.parse(await sh(silently(placed(line)), more, home))
  const CLIENT_SECRET = /billing:([\w-]+)'/.exec(stdout)![1]!
  expect(await ask(withSecret!, { CLIENT_SECRET })).toMatchObject({ access_token: expect.any(String) })

  await sh(openssl!.split('\n').slice(0, 2).join('\n'), {}, home)
  const keys = ['--jwks', join(home, 'billing.pub'), '--replace']
  expect(await command('client', [...add, ...keys], env).ended).toMatchObject({ code: 0 })
  const script = (await readCode('first-party.md', 'ts')).find((text) => text.includes('SignJWT'))!
  await writeFile(join(home, 'assertion.mjs'), placed(script).replace("'jose'", `'${import.meta.resolve('jose')}'`))
  expect(await ask(withAssertion!)).toMatchObject({ access_token: expect.any(String), scope: 'lms.reviews:write' })
  await service.stop()
})

it('a device signs a member in by the lines of docs/apps.md', async () => {
  const [asking, polling] = await readCode('apps.md', 'sh', 'Devices and')
  const env = { DATA_DIR: await dataDirectoryWithDemo() }
  const service = await start(env)
  const scope = 'svc.me.profile:read svc.me.groups:read'
  const registered = ['add', '--id', 'screen', '--name', 'Screen', '--team', 'builders', '--app', 'trainer-app']
  const added = await command('client', [...registered, '--devices', '--scope', scope], env).ended
  expect(added, added.stderr).toMatchObject({ code: 0 })
  const own = { AUTH_BASE_URL: `http://auth.localhost:${service.port}/v1`, CLIENT_ID: 'screen' }
  const ask = async (line: string, more = {}) => JSON.parse(await sh(silently(line), { ...own, ...more }))
  const { device_code: DEVICE_CODE, user_code, verification_uri, ...more } = await ask(asking!)
  expect(more).toMatchObject({ expires_in: 600, interval: 5 })
  expect((await ask(polling!, { DEVICE_CODE })).error).toBe('authorization_pending')

  const browser = new Browser(service.port)
  const { location: request } = await browser.post(verification_uri, { user_code })
  await browser.post(`${request}/pick`, { member: 'anna' })
  expect((await browser.get(request!)).text).toContain(user_code)
  const fields = { organisation: 'riverside', scope: scope.split(' '), decision: 'allow' }
  const done = await browser.post(`${request}/consent`, fields)
  expect([done.status, done.text]).toEqual([200, expect.stringContaining('The device is connected')])

  const { access_token, ...answer } = await ask(polling!, { DEVICE_CODE })
  expect(answer).toMatchObject({ expires_in: 900, token_type: 'Bearer', scope })
  const authorization = `Bearer ${access_token}`
  const profile = await browser.get(`http://apps.localhost:${service.port}/v1/me/profile`, { authorization })
  expect([profile.status, profile.json]).toMatchObject([200, { id: 'anna' }])
  await service.stop()
})

it("a server's documented lines redeem a code and renew with a secret of the portal", async () => {
  const [block] = await readCode('apps.md', 'sh', 'Apps with a server')
  const [redeem, renew] = block!.split(/\n(?=curl )/)
  const scope = 'svc.me.profile:read'
  const auth = await startAuthWorld()
  onTestFinished(() => auth.world.close())
  const home = await temporaryDirectory()
  await writeFile(join(home, '.curlrc'), `silent\nnoproxy = "*"\nconnect-to = "::127.0.0.1:${auth.world.publicPort}"\n`)
  const { owner } = await addPeople(auth.world)
  const client = await register(auth.world)
  const { clients } = asPerson(auth.world, owner)
  const { secret } = await clients.secrets.create({ client })
  await clients.setAuthentication({ client, version: 0, authentication: 'client_secret' })
  const { code, verifier } = await auth.toCode({ client, scope }, auth.world.ids.member, auth.world.ids.club)
  const own = { CURL_HOME: home, AUTH_BASE_URL: authBaseUrl, CLIENT_ID: client, CLIENT_SECRET: secret }
  const answer = async (line: string, fields: Record<string, string>) =>
    JSON.parse(await sh(line, { ...own, ...fields }))

  const form = { CODE: code, VERIFIER: verifier, REDIRECT_URI: redirectUri }
  expect(await answer(redeem!, { ...form, CLIENT_SECRET: 'wrong' })).toMatchObject({ error: 'invalid_client' })
  const tokens = await answer(redeem!, form)
  expect(tokens).toMatchObject({ scope, refresh_token: expect.any(String) })
  const renewed = await answer(renew!, { REFRESH_TOKEN: tokens.refresh_token })
  expect(renewed).toMatchObject({ scope, access_token: expect.any(String) })
})

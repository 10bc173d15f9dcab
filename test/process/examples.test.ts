import { readFileSync } from 'node:fs'
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import type { OutgoingHttpHeaders } from 'node:http'
import https from 'node:https'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { rolldown } from 'rolldown'
import { describe, expect, it, onTestFinished } from 'vitest'
import { signature } from '../../routers/webhooks/deliveries/request.ts'
import type { Page } from '../oauth/browser.ts'
import { Browser, readFormAction } from '../oauth/browser.ts'
import { emptyDatabase, migratedDatabase, query } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'
import { SECRETS_KEY } from '../support/secrets-key.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { message, senderTo } from '../webhooks/sending.ts'
import { command, dataDirectoryWithDemo, freePort, run, start } from './service.ts'
import { program, secret, startExample } from './webhooks/example-receiver.ts'

const root = join(import.meta.dirname, '../..')

it('the native example signs a member in, on any port', async () => {
  const port = String(await freePort())
  // Node asks the system for names under localhost, and not every system knows them.
  const env = { DATA_DIR: await dataDirectoryWithDemo(), PORT: port, AUTH_BASE_URL: `http://localhost:${port}/v1` }
  const service = await start(env)

  const scope = 'svc.me.profile:read'
  const registered = ['add', '--id', 'my-cli', '--name', 'My CLI', '--type', 'native', '--team', 'builders']
  const more = ['--app', 'trainer-app', '--redirect', 'http://127.0.0.1/', '--scope', scope]
  expect(await command('client', [...registered, ...more], env).ended).toMatchObject({ code: 0 })
  const issuer = `${env.AUTH_BASE_URL}/oauth`
  const program = run([join(root, 'examples/native/sign-in.js'), 'my-cli'], { ISSUER: issuer })
  await expect.poll(program.stderr).toMatch(/^Open this address in your browser:\n\S+\n$/)
  const address = new URL(program.stderr().split('\n')[1]!)
  const redirect = address.searchParams.get('redirect_uri')!
  // Not from this sign-in.
  expect((await fetch(`${redirect}?code=stolen&state=guessed&iss=${issuer}`)).status).toBe(404)

  const browser = new Browser(Number(address.port))
  const follow = async (page: Page) => {
    let here = page
    while (here.location?.origin === address.origin) here = await browser.get(here.location)
    return here
  }
  const submit = async (page: Page, step: string, fields: Record<string, string>) =>
    follow(await browser.post(new URL(`${readFormAction(page)}/${step}`, page.url), fields))
  const consent = await submit(await follow(await browser.get(address)), 'pick', { member: 'anna' })
  const allowed = await submit(consent, 'consent', { organisation: 'riverside', scope, decision: 'allow' })
  expect(await (await fetch(allowed.location!)).text()).toBe('Done: go back to the program.')
  const { code, stdout } = await program.ended
  expect([code, decodeJwt(stdout.trim())]).toMatchObject([0, { sub: 'anna', client_id: 'my-cli', scope }])
  await service.stop()
})

const example = join(root, 'examples/directory-sync/sync.js')

const TABLES = `
  CREATE TABLE clubs (id text PRIMARY KEY, name text NOT NULL, "updatedAt" timestamptz NOT NULL DEFAULT clock_timestamp());
  CREATE TABLE members (id text PRIMARY KEY, "firstName" text, "lastName" text, email text, birthday date,
    "updatedAt" timestamptz NOT NULL DEFAULT clock_timestamp());
  CREATE TABLE club_members (club text, member text, joined timestamptz, resigned timestamptz,
    "updatedAt" timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (club, member));
  CREATE TABLE trainings (id text PRIMARY KEY, club text, title text, starts timestamptz, ends timestamptz, place text,
    cancelled boolean NOT NULL DEFAULT false, "updatedAt" timestamptz NOT NULL DEFAULT clock_timestamp());
  INSERT INTO clubs VALUES ('riverside', 'Riverside');
  INSERT INTO members SELECT 'm' || i, 'First', 'Last', 'm' || i || '@example.org', CASE WHEN i % 2 = 0 THEN '1990-02-03'::date END
    FROM generate_series(1, 1500) i;
  INSERT INTO club_members SELECT 'riverside', 'm' || i, '2020-01-15T00:00:00Z' FROM generate_series(1, 1500) i;
  INSERT INTO trainings VALUES ('t1', 'riverside', 'Sprint', '2026-12-01T18:00:00Z', '2026-12-01T19:30:00Z', 'Track')`

/** The example in a project of its own, beside pg and the client package as it is bundled. */
async function project(file = example) {
  const directory = await temporaryDirectory()
  const client = join(directory, 'node_modules/member-apps-client')
  await mkdir(client, { recursive: true })
  await writeFile(join(client, 'package.json'), '{ "type": "module", "exports": "./client.js" }')
  const bundle = await rolldown({ input: join(root, 'clients/first-party/client.ts'), platform: 'neutral' })
  await bundle.write({ file: join(client, 'client.js') })
  await symlink(join(root, 'node_modules/pg'), join(directory, 'node_modules/pg'))
  await copyFile(file, join(directory, 'job.mjs'))
  return directory
}

it('the example directory-sync has under 80 lines', async () => {
  expect((await readFile(example, 'utf8')).trimEnd().split('\n').length).toBeLessThan(80)
})

it('the example directory-sync keeps the service in step with another database', async () => {
  const [DATABASE_URL, SOURCE_URL, directory] = await Promise.all([migratedDatabase(), emptyDatabase(), project()])
  await query(SOURCE_URL, TABLES)
  await query(DATABASE_URL, `INSERT INTO "Organisation" (id, kind, name) VALUES ('provider', 'provider', 'Provider')`)
  const [PORT, INTERNAL_PORT] = (await Promise.all([freePort(), freePort()])).map(String) as [string, string]
  const AUTH_BASE_URL = `http://127.0.0.1:${PORT}/v1`
  const env = { DATABASE_URL, SECRETS_KEY, PORT, INTERNAL_PORT, AUTH_BASE_URL, WEBHOOK_WORKER: 'false' }
  const options = ['--id', 'sync', '--name', 'Sync', '--scope', 'directory:write']
  const added = await command('client', ['add', '--first-party', ...options], env).ended
  const [, CLIENT_SECRET] = /: (\S+)$/m.exec(added.stdout)!
  const service = await start(env)

  const sync = () => {
    const program = run([join(directory, 'job.mjs')], {
      SOURCE_URL,
      TOKEN_URL: `${AUTH_BASE_URL}/oauth/token`,
      CLIENT_ID: 'sync',
      CLIENT_SECRET: CLIENT_SECRET!,
      ORGANISATION: 'provider',
      TRPC_URL: `http://127.0.0.1:${INTERNAL_PORT}/trpc`,
      STATE_FILE: join(directory, 'state'),
      SECONDS: '0.5',
    })
    const stop = async () => {
      program.child.kill('SIGKILL')
      await program.ended
    }
    onTestFinished(stop)
    return { ...program, stop }
  }
  const first = sync()
  const stored = async (sql: string) => (await query(DATABASE_URL, `SELECT (${sql})::text AS value`))[0].value
  const becomes = (sql: string, value: string | null) =>
    expect.poll(() => stored(sql), { message: first.stdout() }).toBe(value)

  await becomes('SELECT count(*) FROM "Event"', '1')
  await becomes(
    'SELECT count(*) FROM "Membership" WHERE "joinedAt" = \'2020-01-15T00:00:00Z\' AND "leftAt" IS NULL',
    '1500',
  )
  await becomes(`SELECT array_agg(birthday ORDER BY id) FROM "Person" WHERE id IN ('m1', 'm2')`, '{NULL,1990-02-03}')
  expect(first.stdout()).toMatch(
    /Z people: 1000 added, 0 changed, 0 ended\n.*Z people: 500 added, 0 changed, 0 ended\n/,
  )

  // A transaction that wrote before others and commits after them.
  const late = pgClient(SOURCE_URL)
  await late.connect()
  await late.query(`BEGIN; UPDATE members SET "firstName" = 'Late', "updatedAt" = clock_timestamp() WHERE id = 'm1'`)
  const change = (rest: string) => query(SOURCE_URL, `UPDATE ${rest}`)
  await change(`members SET "firstName" = 'Early', "updatedAt" = clock_timestamp() WHERE id = 'm2'`)
  await becomes(`SELECT "firstName" FROM "Person" WHERE id = 'm2'`, 'Early')
  await late.query('COMMIT')
  await late.end()
  await becomes(`SELECT "firstName" FROM "Person" WHERE id = 'm1'`, 'Late')

  await change(
    `club_members SET resigned = '2026-01-01T00:00:00Z', "updatedAt" = clock_timestamp() WHERE member = 'm1'`,
  )
  await becomes(`SELECT "leftAt" = '2026-01-01T00:00:00Z' FROM "Membership" WHERE "personId" = 'm1'`, 'true')
  await change(`trainings SET cancelled = true, "updatedAt" = clock_timestamp()`)
  await becomes('SELECT count(*) FROM "Event"', '0')

  // Neither an unreachable service nor an end of the program loses a change.
  await service.stop()
  await change(`clubs SET name = 'Renamed', "updatedAt" = clock_timestamp()`)
  await expect.poll(() => first.stdout()).toMatch(/fetch failed|ECONNREFUSED/)
  await start(env)
  await becomes(`SELECT name FROM "Organisation" WHERE id = 'riverside'`, 'Renamed')
  await first.stop()
  await change(`club_members SET resigned = NULL, "updatedAt" = clock_timestamp() WHERE member = 'm1'`)
  const second = sync()
  await becomes(`SELECT "leftAt" FROM "Membership" WHERE "personId" = 'm1'`, null)
  await expect.poll(() => second.stdout()).toContain('memberships: 0 added, 1 changed, 0 ended\n')
  expect(second.stdout()).not.toContain('people')
})

it('the example first-party works at the addresses that a trial has on this machine', async () => {
  const env = { DATA_DIR: await dataDirectoryWithDemo() }
  const service = await start(env)
  const directory = await project(join(root, 'examples/first-party/retry.js'))
  const options = ['--id', 'retries', '--name', 'Retries', '--scope', 'ntf.events:write']
  const added = await command('client', ['add', '--first-party', ...options], env).ended
  const [, CLIENT_SECRET] = /: (\S+)$/m.exec(added.stdout)!
  const written = await readFile(join(directory, 'job.mjs'), 'utf8')
  const placed = written.replace(':3000', `:${service.port}`).replace(':3001', `:${service.internalPort}`)
  await writeFile(join(directory, 'job.mjs'), placed)
  const job = run([join(directory, 'job.mjs')], { CLIENT_ID: 'retries', CLIENT_SECRET: CLIENT_SECRET! })
  expect(await job.ended).toMatchObject({ code: 0, stderr: '', stdout: '0 deliveries are sent again, 0 are not.\n' })
  await service.stop()
})

const body = (id: string) =>
  JSON.stringify({
    id,
    type: 'training.moved',
    timestamp: '2026-11-20T18:00:00.000Z',
    data: { to: '19:30', by: 'Grüße' },
  })
const line = (id: string) => `2026-11-20T18:00:00.000Z training.moved ${id} {"to":"19:30","by":"Grüße"}`

/** Sends one request with exactly these headers; resolves with the status. */
const request = (
  { url, ca }: { url: string; ca: string },
  headers: OutgoingHttpHeaders,
  text: string,
  method = 'POST',
) =>
  new Promise<number>((resolve, reject) => {
    const sent = https.request(url, { method, headers, ca, agent: false }, (response) => {
      resolve(response.resume().statusCode!)
    })
    sent.on('error', reject).end(text)
  })

describe('the example receiver', () => {
  it('has under 60 lines', () => {
    expect(readFileSync(program, 'utf8').trimEnd().split('\n').length).toBeLessThan(60)
  })

  it('prints each event once, and refuses unverified requests', async () => {
    const example = await startExample()
    const { url } = example
    const sender = senderTo(example)
    const status = async (more: Parameters<typeof message>[1]) => (await sender.send(message(url, more))).status

    expect(await status({ id: 'd1', secret, body: body('e1') })).toBe(204)
    await expect.poll(example.events).toEqual([line('e1')])

    expect(await status({ id: 'd2', secret: null, body: body('e2') })).toBe(401)
    expect(await status({ id: 'd2', secret: 'whsec_another', body: body('e2') })).toBe(401)
    expect(await status({ id: 'd2', secret: `${secret}x`, body: body('e2') })).toBe(401)
    expect(await status({ id: 'd1', secret, body: body('e1') })).toBe(204)
    expect(await status({ id: 'd3', secret, body: `{"x":"${'y'.repeat(1024 * 1024)}"}` })).toBe(413)
    const late = senderTo(example, { now: () => Date.now() - 3_600_000 })
    expect(await late.send(message(url, { id: 'd2', secret, body: body('e2') }))).toMatchObject({ status: 401 })

    // A refused delivery does not count as received.
    expect(await status({ id: 'd2', secret, body: body('e2') })).toBe(204)
    await expect.poll(example.events).toEqual([line('e1'), line('e2')])
  })

  it('requires both the secret and a valid signature', async () => {
    const example = await startExample()
    const now = Math.floor(Date.now() / 1_000)
    const headers = {
      'x-webhook-secret': secret,
      'webhook-id': 'd1',
      'webhook-timestamp': String(now),
      'webhook-signature': signature([secret], 'd1', now, body('e1')),
    }
    const post = (more: Record<string, string>, text = body('e1')) => request(example, { ...headers, ...more }, text)
    expect(await post({ 'x-webhook-secret': 'whsec_another' })).toBe(401)
    expect(await post({ 'webhook-signature': signature(['whsec_another'], 'd1', now, body('e1')) })).toBe(401)
    expect(await post({ 'webhook-id': 'd2' })).toBe(401)
    expect(await post({ 'webhook-timestamp': String(now + 1) })).toBe(401)
    expect(await post({}, body('e2'))).toBe(401)
    expect(await request(example, headers, '', 'GET')).toBe(405)
    expect(await post({})).toBe(204)
    await expect.poll(example.events).toEqual([line('e1')])
  })
})

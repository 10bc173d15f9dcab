import { randomBytes } from 'node:crypto'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { emailCodes } from '../../server/browser/login/email-code.ts'
import { memoryLimits } from '../../server/limits/memory.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { checkSecretsKey } from '../../server/secrets/keys.ts'
import { reencrypt } from '../../server/secrets/reencrypt.ts'
import { watchSecretsKey } from '../../server/secrets/watch.ts'
import { migratedDatabase } from '../support/databases.ts'
import { createTenant, id } from '../support/tenant.ts'
import { openTestDatabase } from '../support/test-database.ts'
import type { AuthWorld } from './auth-world.ts'
import { issuer, redirectUri, startAuthWorld } from './auth-world.ts'
import type { Browser } from './browser.ts'
import { createMember } from './members.ts'

const scope = 'svc.me.profile:read'
const connected = `${issuer}/connected`
const [a, b] = [randomBytes(32), randomBytes(32)]
const mails = new Map<string, string>()

/** A database of its own: the re-encryption changes the secrets of every row. */
let databaseUrl: string
let db: Database
const ends: (() => Promise<void>)[] = []

/** Nodes at each step of a rotation, with the keys of that step. */
let old: AuthWorld
let both: AuthWorld
let turned: AuthWorld
let nodes: AuthWorld[]
const start = (ids: AuthWorld['world']['ids'], ...secretsKeys: Buffer[]) => {
  const codes = emailCodes({
    db,
    now: Date.now,
    sendMail: async ({ to, text }) => void mails.set(to, /\d{8}|\d{4}\s\d{4}/.exec(text)![0]),
    onError: () => {},
    limits: memoryLimits(),
  })
  return startAuthWorld({ databaseUrl, like: { ids, secretsKeys }, auth: { codes } })
}
beforeAll(async () => {
  databaseUrl = await migratedDatabase((end) => ends.push(end))
  db = openTestDatabase(databaseUrl)
  const ids = await createTenant(db)
  await db.client.update({ where: { id: ids.client }, data: { redirectUris: [redirectUri], scopes: memberScopes } })
  old = await start(ids, a)
  both = await start(ids, a, b)
  turned = await start(ids, b, a)
  nodes = [old, both, turned]
})
afterAll(async () => {
  await Promise.all(nodes.map(({ world }) => world.close()))
  await db.$disconnect()
  for (const end of ends) await end()
})

/** The same browser at another node. */
function at(node: AuthWorld, { cookies }: Browser): Browser {
  const browser = node.newBrowser()
  browser.cookies = cookies
  return browser
}

describe('while nodes change to a new SECRETS_KEY', () => {
  it('a sign-in can continue at each of them, and all accept its token', async () => {
    const { ids } = old.world
    const { url, verifier } = old.authorizeUrl({ client: ids.client, scope })
    const first = old.newBrowser()
    const signIn = await first.open(url)
    const second = at(both, first)
    const consent = await second.submit(signIn, 'pick', { member: ids.member })
    const third = at(turned, second)
    const back = await third.submit(consent, 'consent', { organisation: ids.club, scope, decision: 'allow' })
    const code = back.location!.searchParams.get('code')!
    const { json } = await both.exchange(ids.client, code, verifier)
    for (const { world } of nodes) {
      expect((await world.call('GET', '/me/profile', { token: json.access_token })).status).toBe(200)
    }
  })

  it('a code mailed by one node is accepted by another', async () => {
    const email = `${id('mia')}@example.org`
    await createMember(db, { email })
    const first = old.newBrowser()
    const page = await first.open(connected)
    const sent = await first.submit(page, 'email', { email })
    await expect.poll(() => mails.get(email)).toEqual(expect.any(String))
    const second = at(turned, first)
    const list = await second.submit(sent, 'code', { code: mails.get(email)!.replace(/\s/, '') })
    expect(list.url.href).toBe(connected)
    expect(list.text).not.toContain('Sign in')
  })
})

describe('after the old SECRETS_KEY is removed', () => {
  it('tokens stay valid, and members seen by a node with both keys stay signed in', async () => {
    const { ids } = old.world
    const tokens = await old.toTokens({ client: ids.client, scope })
    const [came, stayed] = [old.newBrowser(), old.newBrowser()]
    for (const browser of [came, stayed]) {
      await browser.submit(await browser.open(connected), 'pick', { member: ids.member })
    }
    const meanwhile = at(turned, came)
    await meanwhile.open(turned.authorizeUrl({ client: ids.client, scope }).url)

    expect(await reencrypt(db, createCipher([b, a]))).toBeGreaterThan(0)
    const last = await start(ids, b)
    nodes.push(last)
    expect((await last.world.call('GET', '/me/profile', { token: tokens.access_token })).status).toBe(200)
    const fresh = await last.toTokens({ client: ids.client, scope })
    for (const { world } of [both, turned, last]) {
      expect((await world.call('GET', '/me/profile', { token: fresh.access_token })).status).toBe(200)
    }
    expect((await at(last, meanwhile).open(connected)).text).not.toContain('Sign in')
    expect((await at(last, stayed).open(connected)).text).toContain('Sign in')
  })
})

it('whether a node has the key is answered at once while all connections are in use, and the change is seen after that', async () => {
  await checkSecretsKey(db, createCipher([b, a]))
  const busy = openTestDatabase(databaseUrl, { max: 1 })
  onTestFinished(() => busy.$disconnect())
  const hasKey = watchSecretsKey({
    db: busy,
    cipher: createCipher([randomBytes(32)]),
    log: pino({ level: 'silent' }),
    now: () => 0,
  })
  await busy.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT 1`
    expect(hasKey()).toBe(true)
  })
  await expect.poll(hasKey).toBe(false)
})

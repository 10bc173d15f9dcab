import { beforeEach, expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { removeClientIn } from '../../routers/developer/clients/removal.ts'
import { asPlatform } from '../support/platform.ts'
import { reportingDue } from '../support/reported-due.ts'
import type { AuthWorld, Tokens } from './auth-world.ts'
import { issuer, register, startAuthWorld } from './auth-world.ts'

/** The figure of docs/apps.md, "When access ends". */
const SECONDS = 5

let db: Database
let auth: AuthWorld
let client: string
let tokens: Tokens
beforeEach(async () => {
  auth = await startAuthWorld()
  db = auth.world.db
  client = await register(auth.world)
  return () => auth.world.close()
})

type Call = { scope: string; of: 'club' | 'provider'; path: () => string; procedure: string; input: () => object }
const calls = {
  profile: {
    scope: 'svc.me.profile:read',
    of: 'club',
    path: () => '/me/profile',
    procedure: 'me.profile',
    input: () => ({}),
  },
  storage: {
    scope: 'svc.apps.storage:read',
    of: 'club',
    path: () => '/storage/c',
    procedure: 'storage.list',
    input: () => ({ collection: 'c' }),
  },
  webhook: {
    scope: 'ntf.apps.webhook:read',
    of: 'provider',
    path: () => `/apps/${auth.world.ids.app}/webhook`,
    procedure: 'webhook.get',
    input: () => ({ id: auth.world.ids.app }),
  },
} satisfies Record<string, Call>

/** Over REST and over tRPC: the status and the message of a refusal. */
async function ask({ path, procedure, input }: Call) {
  const token = tokens.access_token
  const rest = await auth.world.call('GET', path(), { token })
  const query = new URLSearchParams({ input: JSON.stringify(input()) })
  const headers = { authorization: `Bearer ${token}` }
  const trpc = await auth.world.internal('GET', `/trpc/${procedure}?${query}`, { headers })
  const said = rest.body.detail ?? rest.body.error?.message
  return [rest.status, said, trpc.status, trpc.body.error?.message]
}

const membership = () => ({ organisation: auth.world.ids.club, person: auth.world.ids.member })
const directory = () => asPlatform(auth.world).directory
const ofConsent = () => ({ where: { clientId: client } })

const NO_MEMBER = [404, 'This member does not exist in this club.']
const INVALID = [401, 'This token is not valid.']
const NO_SCOPE = [403, 'This token does not carry the svc.me.profile:read scope.']

it.each<[string, () => Promise<unknown>, (number | string)[], Call?]>([
  ['a membership that is ended', () => directory().memberships.end({ ids: [membership()] }), NO_MEMBER],
  [
    'a membership whose row is deleted',
    () => db.membership.deleteMany({ where: { personId: auth.world.ids.member } }),
    NO_MEMBER,
  ],
  ['a person who is ended', () => directory().people.end({ ids: [auth.world.ids.member] }), NO_MEMBER],
  ['an organisation that is ended', () => directory().organisations.end({ ids: [auth.world.ids.club] }), NO_MEMBER],
  [
    'a consent that is withdrawn',
    async () => {
      const browser = auth.newBrowser()
      await browser.submit(await browser.open(`${issuer}/connected`), 'pick', { member: auth.world.ids.member })
      const consent = await db.consent.findFirstOrThrow(ofConsent())
      await reportingDue(auth.world.core, () => browser.post(`${issuer}/connected/withdraw`, { consent: consent.id }))
    },
    INVALID,
  ],
  [
    'a sign-in whose refresh token is revoked',
    () => auth.app.post(`${issuer}/revoke`, { token: tokens.refresh_token, client_id: client }),
    INVALID,
  ],
  [
    'a sign-in whose refresh token is used twice',
    async () => {
      await auth.refresh(client, (await auth.refresh(client, tokens.refresh_token)).json.refresh_token)
      await auth.refresh(client, tokens.refresh_token)
    },
    INVALID,
  ],
  [
    'an app that is suspended',
    () => db.app.update({ where: { id: auth.world.ids.app }, data: { state: 'suspended' } }),
    INVALID,
  ],
  ['a client that is removed', () => db.$transaction((tx) => removeClientIn(tx, client)), INVALID],
  ['a client that loses the scope', () => db.client.update({ where: { id: client }, data: { scopes: [] } }), NO_SCOPE],
  [
    'a client that loses its app',
    () => db.client.update({ where: { id: client }, data: { appId: null } }),
    [403, 'This client is not a the service app.'],
    calls.storage,
  ],
  [
    'a team that loses its level',
    () => db.team.update({ where: { id: auth.world.ids.team }, data: { level: 'hobby' } }),
    [403, 'The Developer membership is needed for this API.'],
    calls.webhook,
  ],
])('%s is refused after 5 s at the latest', async (_, end, refusal, call = calls.profile) => {
  const { ids, advance } = auth.world
  tokens = await auth.toTokens({ client, scope: call.scope }, ids.member, ids[call.of])
  expect(await ask(call)).toMatchObject({ 0: 200, 2: 200 })
  await end()
  advance(SECONDS)
  expect(await ask(call)).toEqual([...refusal, ...refusal])
})

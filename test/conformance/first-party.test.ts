import type { AnyProcedure } from '@trpc/server'
import { beforeEach, describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { recordTypeNames } from '../../routers/directory/record-types.ts'
import { appRouter } from '../../routers/index.ts'
import type { Meta } from '../../routers/kernel/meta.ts'
import { firstPartyScopes, memberScopes } from '../../routers/kernel/scopes.ts'
import { table } from '../support/markdown-table.ts'
import { platformClaims, readRefusal } from '../support/platform.ts'
import type { Reply } from '../support/request.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

/**
 * The procedures without a REST path. Section says which organisation the token names: lms an academy, notify a provider, apps
 * any.
 */
const procedures = table<'Procedure' | 'Type' | 'Section' | 'Scope'>(`
  | Procedure            | Type     | Section | Scope                   |
  |----------------------|----------|---------|-------------------------|
  | subscriptions.create | mutation | notify  | ntf.subscriptions:write |
  | subscriptions.update | mutation | notify  | ntf.subscriptions:write |
  | subscriptions.list   | query    | notify  | ntf.subscriptions:write |
  | subscriptions.remove | mutation | notify  | ntf.subscriptions:write |
  | events.publish       | mutation | notify  | ntf.events:write        |
  | events.describe      | mutation | notify  | ntf.events:write        |
  | events.undescribe    | mutation | notify  | ntf.events:write        |
  | events.kinds         | query    | notify  | ntf.events:write        |
  | deliveries.list      | query    | notify  | ntf.events:write        |
  | deliveries.retry     | mutation | notify  | ntf.events:write        |
  | quizzes.review       | mutation | lms     | lms.reviews:write       |
  | directory.people.upsert    | mutation | apps | directory:write |
  | directory.people.end       | mutation | apps | directory:write |
  | directory.people.list      | query    | apps | directory:read  |
  | directory.memberships.end  | mutation | apps | directory:write |
  | directory.people.export    | query    | apps | directory:read  |
  | directory.people.erase     | mutation | apps | directory:write |
  | directory.approvals.list   | query    | apps | directory:read  |
  | directory.approvals.set    | mutation | apps | directory:write |
  | directory.dataRequests.list   | query    | apps | directory:read  |
  | directory.dataRequests.answer | mutation | apps | directory:write |
`)

/** What people do in their teams, on the apps host; each needs a member, and test/developer calls them. */
const ofTeams = table<'Procedure' | 'Type' | 'Scope'>(`
  | Procedure                           | Type     | Scope     |
  |-------------------------------------|----------|-----------|
  | developer.teams.list                | query    | dev:read  |
  | developer.teams.summary             | query    | dev:read  |
  | developer.teams.get                 | query    | dev:read  |
  | developer.teams.signup              | query    | dev:read  |
  | developer.teams.create              | mutation | dev:write |
  | developer.teams.request             | mutation | dev:write |
  | developer.teams.withdrawRequest     | mutation | dev:write |
  | developer.invitations.list          | query    | dev:read  |
  | developer.invitations.accept        | mutation | dev:write |
  | developer.invitations.decline       | mutation | dev:write |
  | developer.data.stores               | query    | dev:read  |
  | developer.data.collections          | query    | dev:read  |
  | developer.data.entries              | query    | dev:read  |
  | developer.data.entry                | query    | dev:read  |
  | developer.data.put                  | mutation | dev:write |
  | developer.data.remove               | mutation | dev:write |
  | developer.rules.list                | query    | dev:read  |
  | developer.rules.set                 | mutation | dev:write |
  | developer.mails.get                 | query    | dev:read  |
  | developer.mails.set                 | mutation | dev:write |
  | developer.people.list               | query    | dev:read  |
  | developer.people.get                | query    | dev:read  |
  | developer.people.invite             | mutation | dev:write |
  | developer.people.withdraw           | mutation | dev:write |
  | developer.people.setRole            | mutation | dev:write |
  | developer.people.remove             | mutation | dev:write |
  | developer.apps.list                 | query    | dev:read  |
  | developer.apps.get                  | query    | dev:read  |
  | developer.teams.impact              | query    | dev:read  |
  | developer.teams.remove              | mutation | dev:write |
  | developer.teams.restore             | mutation | dev:write |
  | developer.apps.impact               | query    | dev:read  |
  | developer.apps.remove               | mutation | dev:write |
  | developer.apps.restore              | mutation | dev:write |
  | developer.apps.clubs                | query    | dev:read  |
  | developer.apps.health               | query    | dev:read  |
  | developer.apps.providers            | query    | dev:read  |
  | developer.apps.create               | mutation | dev:write |
  | developer.apps.update               | mutation | dev:write |
  | developer.apps.setLogo              | mutation | dev:write |
  | developer.apps.removeLogo           | mutation | dev:write |
  | developer.apps.withdrawChanges      | mutation | dev:write |
  | developer.testClub.get              | query    | dev:read  |
  | developer.testClub.impact           | query    | dev:read  |
  | developer.testClub.reset            | mutation | dev:write |
  | developer.testClub.change           | mutation | dev:write |
  | developer.testClub.withdraw         | mutation | dev:write |
  | developer.testClub.review           | mutation | dev:write |
  | developer.clients.list              | query    | dev:read  |
  | developer.clients.get               | query    | dev:read  |
  | developer.clients.create            | mutation | dev:write |
  | developer.clients.update            | mutation | dev:write |
  | developer.clients.remove            | mutation | dev:write |
  | developer.clients.requestProduction | mutation | dev:write |
  | developer.clients.withdrawRequest   | mutation | dev:write |
  | developer.clients.setAuthentication | mutation | dev:write |
  | developer.clients.secrets.create    | mutation | dev:write |
  | developer.clients.secrets.remove    | mutation | dev:write |
  | developer.audit.list                | query    | dev:read  |
  | developer.requests.list             | query    | dev:read  |
  | developer.requests.get              | query    | dev:read  |
  | developer.usage                     | query    | dev:read  |
  | developer.webhook.get               | query    | dev:read  |
  | developer.webhook.set               | mutation | dev:write |
  | developer.webhook.remove            | mutation | dev:write |
  | developer.webhook.endFormerSecret   | mutation | dev:write |
  | developer.webhook.test              | mutation | dev:write |
  | developer.webhook.kinds             | query    | dev:read  |
  | developer.addresses.list            | query    | dev:read  |
  | developer.addresses.create          | mutation | dev:write |
  | developer.addresses.update          | mutation | dev:write |
  | developer.addresses.remove          | mutation | dev:write |
  | developer.deliveries.list           | query    | dev:read  |
  | developer.deliveries.filters        | query    | dev:read  |
  | developer.deliveries.get            | query    | dev:read  |
  | developer.deliveries.retry          | mutation | dev:write |
  | developer.deliveries.resend         | mutation | dev:write |
  | developer.deliveries.retryFailed    | mutation | dev:write |
`)

/** Every kind has the same three. */
const ofKinds = recordTypeNames.flatMap((recordType) => [
  `directory.${recordType}.upsert mutation apps directory:write`,
  `directory.${recordType}.end mutation apps directory:write`,
  `directory.${recordType}.list query apps directory:read`,
])

const everyScope = [...memberScopes, ...firstPartyScopes].join(' ')
const INVALID = [401, 'invalid_token', 'This token is not valid.']

const world = useWorld()
let subscription: string
let delivery: string
let person: string
let dataRequest: string
let inputs: Record<string, object>

beforeEach(async () => {
  const { app } = world.ids
  subscription = id('subscription')
  delivery = id('delivery')
  await world.db.subscription.create({
    data: { id: subscription, appId: app, subscriber: 's', url: 'https://hooks.example.org' },
  })
  const event = id('event')
  await world.db.publishedEvent.create({
    data: { appId: app, id: event, type: 't', body: '{}', publishedAt: new Date() },
  })
  const of = { appId: app, eventId: event, subscriptionId: subscription }
  await world.db.delivery.create({ data: { id: delivery, ...of, state: 'failed', createdAt: new Date() } })
  person = id('person')
  await world.db.person.create({ data: { id: person, firstName: 'P', lastName: 'P', email: '' } })
  dataRequest = id('request')
  const times = { requestedAt: new Date(0), deadline: new Date(1) }
  await world.db.dataRequest.create({ data: { id: dataRequest, personId: person, ...times }, select: { id: true } })
  inputs = {
    'subscriptions.create': { app, subscriber: 'x' },
    'subscriptions.update': { id: subscription },
    'subscriptions.list': { app },
    'subscriptions.remove': { id: subscription },
    'events.publish': { app, type: 't', data: 1 },
    'events.describe': { type: 't', description: 'It happened.', example: null },
    'events.undescribe': { type: 't' },
    'events.kinds': {},
    'deliveries.list': {},
    'deliveries.retry': { id: delivery },
    'quizzes.review': { result: 'none', grades: {} },
    'directory.people.upsert': { items: [{ id: world.ids.member, image: id('image') }] },
    'directory.people.end': { ids: [id('person')] },
    'directory.people.list': { limit: 1 },
    'directory.people.export': { id: world.ids.member },
    'directory.people.erase': { id: person },
    'directory.approvals.list': {},
    'directory.dataRequests.list': {},
    'directory.dataRequests.answer': { id: dataRequest },
    'directory.approvals.set': { club: world.ids.club, app, state: 'approved' },
    'directory.memberships.end': { ids: [{ organisation: world.ids.club, person: id('person') }] },
  }
})

type Row = (typeof procedures)[number]

/** Calls the procedure over HTTP. */
async function call({ Procedure, Type, Section }: Row, claims: Record<string, unknown> | null): Promise<Reply> {
  const organisation = Section === 'lms' ? world.ids.academy : world.ids.provider
  const headers = claims && { authorization: `Bearer ${await world.token({ organisation, ...claims })}` }
  const input = JSON.stringify(inputs[Procedure])
  return Type === 'query'
    ? world.internal('GET', `/trpc/${Procedure}?input=${encodeURIComponent(input)}`, { headers: { ...headers } })
    : world.internal('POST', `/trpc/${Procedure}`, { headers: { ...headers }, body: input })
}

const readError = ({ body }: Reply) => [body.error.data.httpStatus, body.error.data.error, body.error.message]

/** What a call could change. */
function stored() {
  const where = { appId: world.ids.app }
  return Promise.all([
    world.db.subscription.findMany({ where, orderBy: { id: 'asc' } }),
    world.db.publishedEvent.findMany({ where, orderBy: { id: 'asc' } }),
    world.db.delivery.findMany({ where, orderBy: { id: 'asc' } }),
    world.db.person.findMany({ where: { id: { in: [world.ids.member, person] } }, orderBy: { id: 'asc' } }),
    world.db.clubApproval.findMany({ where }),
  ])
}

async function expectRefused(row: Row, claims: Record<string, unknown> | null, [status, code, message]: unknown[]) {
  const reply = await call(row, claims)
  expect([reply.status, ...readError(reply)]).toEqual([status, status, code, message])
  return reply
}

const served = appRouter._def.procedures as unknown as Record<string, AnyProcedure>
/** REST has them at the paths of their endpoints. */
const streams = new Set(Object.values(served).map(({ _def }) => (_def.meta as Meta).stream))

describe('procedures without a REST path', () => {
  const withoutPath = Object.entries(served)
    .map(([name, procedure]) => ({ name, type: procedure._def.type, meta: procedure._def.meta as Meta }))
    .filter(({ name, meta }) => !meta.openapi && !streams.has(name))

  it('are exactly those of the table', () => {
    const rows = withoutPath.map(({ name, type, meta }) =>
      [name, type, meta.policy.requires.section, meta.scope].join(' '),
    )
    const listed = procedures.map((row) => Object.values(row).join(' '))
    const developer = ofTeams.map(({ Procedure, Type, Scope }) => `${Procedure} ${Type} apps ${Scope}`)
    expect(rows.sort()).toEqual([...new Set([...listed, ...developer, ...ofKinds])].sort())
  })

  it('are all first-party', () => {
    expect(withoutPath.filter(({ meta }) => !meta.policy.requires.firstParty)).toEqual([])
  })

  it('use exactly the first-party scopes', () => {
    const used = [...procedures, ...ofTeams].map(({ Scope }) => Scope)
    expect([...new Set(used)].sort()).toEqual([...firstPartyScopes].sort())
    expect(firstPartyScopes.filter((scope) => (memberScopes as string[]).includes(scope))).toEqual([])
  })
})

describe.each(procedures)('$Procedure', (row) => {
  const { Procedure, Scope } = row
  const section = row.Section as 'apps' | 'lms' | 'notify'
  const organisation = () => ({ organisation: section === 'lms' ? world.ids.academy : world.ids.provider })

  it.each([
    ['with', () => world.ids.member],
    ['without', () => undefined],
  ])('accepts a first-party client with its scope, %s a member', async (_, member) => {
    const reply = await call(row, platformClaims(world, { sub: member(), ...organisation(), scope: Scope }))
    // No result is stored, so a review is 404.
    expect(reply.status).toBe(Procedure === 'quizzes.review' ? 404 : 200)
    expect(Object.keys(reply.headers).filter((name) => name.startsWith('ratelimit'))).toEqual([])
  })

  it('refuses other callers, and changes nothing', async () => {
    const before = await stored()
    await expectRefused(row, null, INVALID)

    const notOurs = 'This client does not belong to the platform.'
    const ofTeam = await expectRefused(row, { scope: everyScope }, [403, 'missing_scope', notOurs])
    expect(ofTeam.headers.ratelimit).toBeTypeOf('string')

    const others = everyScope.split(' ').filter((scope) => scope !== Scope)
    const message = `This token does not carry the ${Scope} scope.`
    const claims = platformClaims(world, { ...organisation(), scope: others.join(' ') })
    const lacking = await expectRefused(row, claims, [403, 'missing_scope', message])
    expect(lacking.headers['www-authenticate']).toMatch(
      `Bearer error="insufficient_scope", scope="${Scope}", resource_metadata="`,
    )

    await expectRefused(row, { sub: undefined, scope: everyScope }, INVALID)

    await expectRefused(row, platformClaims(world, { client_id: id('client') }), INVALID)
    await expectRefused(row, platformClaims(world, { organisation: undefined }), INVALID)
    expect(await stored()).toEqual(before)
  })
})

describe.each(ofTeams)('$Procedure', ({ Procedure, Type, Scope }) => {
  const call = async (claims: Record<string, unknown>) => {
    const headers = { authorization: `Bearer ${await world.token({ ...platformClaims(world), ...claims })}` }
    return Type === 'query'
      ? world.internal('GET', `/trpc/${Procedure}?input=%7B%7D`, { headers })
      : world.internal('POST', `/trpc/${Procedure}`, { headers, body: '{}' })
  }
  const readMessage = async (claims: Record<string, unknown>) => {
    const { status, body } = await call(claims)
    return [status, body.error?.message]
  }

  it('refuses other callers, and lets a person of any team through to its own checks', async () => {
    expect(await readMessage({ scope: everyScope })).toEqual([401, 'This token is not valid.'])
    const member = { sub: world.ids.member }
    const ofTeam = { ...member, client_id: world.ids.client, scope: everyScope }
    expect(await readMessage(ofTeam)).toEqual([403, 'This client does not belong to the platform.'])
    const others = everyScope.split(' ').filter((scope) => scope !== Scope)
    const lacking = { ...member, scope: others.join(' ') }
    expect(await readMessage(lacking)).toEqual([403, `This token does not carry the ${Scope} scope.`])
    const { status } = await call({ sub: world.ids.member, scope: Scope })
    const lists = [
      'developer.teams.list',
      'developer.teams.signup',
      'developer.invitations.list',
      'developer.mails.get',
    ]
    expect(lists.includes(Procedure) ? [200] : [400, 404, 422]).toContain(status)
  })
})

describe('a principal without a member', () => {
  it('gets 401 in process', async () => {
    for (const client of [world.ids.client, world.ids.platform]) {
      const caller = callAs(world.core, world.principal({ client, member: null }))
      for (const call of [caller.root(), caller.me.profile(), caller.storage.list({ collection: 'c' })]) {
        expect(await readRefusal(call)).toMatchObject({ status: 401 })
      }
    }
  })
})

describe('a first-party client with a member', () => {
  it('has no request limit and no storage', async () => {
    const claims = { client_id: world.ids.platform }
    const profile = await world.call('GET', '/me/profile', { claims })
    expect([profile.status, profile.body.id]).toEqual([200, world.ids.member])
    expect(Object.keys(profile.headers).filter((name) => name.startsWith('ratelimit'))).toEqual([])
    expect(await world.call('GET', '/storage/c', { claims })).toMatchObject({
      status: 403,
      body: { detail: 'This client is not a the service app.' },
    })
  })
})

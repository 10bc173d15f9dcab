import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../rest-facade/routes.ts'
import { firstPartyScopes, memberScopes } from '../../routers/kernel/scopes.ts'
import { mintAppServer } from '../support/app-server.ts'
import { table } from '../support/markdown-table.ts'
import type { Call, Reply } from '../support/request.ts'
import { sampleCalls } from '../support/sample-calls.ts'
import { useWorld } from '../support/started.ts'
import { createCard, createQuiz, id, putAddress } from '../support/tenant.ts'

/** The endpoint tables of both documents; decisions.md adds the procedure names, the status of PUT, and the section sync. */
const endpoints = table<'Section' | 'Method' | 'Path' | 'Scope' | 'Status' | 'Procedure'>(`
  | Section | Method | Path                              | Scope                     | Status | Procedure           |
  |---------|--------|-----------------------------------|---------------------------|--------|---------------------|
  | apps    | GET    | /                                 | none                      | 200    | root                |
  | apps    | GET    | /me/profile                       | svc.me.profile:read       | 200    | me.profile          |
  | apps    | GET    | /me/groups                        | svc.me.groups:read        | 200    | me.groups           |
  | apps    | GET    | /me/events                        | svc.me.events:read        | 200    | me.events           |
  | apps    | GET    | /me/trainingplans                 | svc.me.trainingplans:read | 200    | me.trainingplans    |
  | apps    | GET    | /me/competitions                  | svc.me.competitions:read  | 200    | me.competitions     |
  | apps    | GET    | /me/membercard                    | svc.me.membercard:read    | 200    | me.membercard       |
  | sync    | GET    | /membercard/code                  | svc.me.membercard:read    | 200    | card.code           |
  | sync    | GET    | /membercard/pass                  | svc.me.membercard:read    | 200    | card.pass           |
  | apps    | GET    | /storage/{collection}             | svc.apps.storage:read     | 200    | storage.list        |
  | apps    | GET    | /storage/{collection}/{key}       | svc.apps.storage:read     | 200    | storage.get         |
  | apps    | PUT    | /storage/{collection}/{key}       | svc.apps.storage:write    | 200    | storage.put         |
  | apps    | DELETE | /storage/{collection}/{key}       | svc.apps.storage:write    | 204    | storage.delete      |
  | lms     | POST   | /quizzes/{quizId}/results         | lms.me.quizzes:write      | 201    | quizzes.submit      |
  | sync    | GET    | /quizzes/{quizId}                 | lms.me.quizzes:read       | 200    | quizzes.get         |
  | sync    | GET    | /quiz-results/{resultId}          | lms.me.quizzes:read       | 200    | quizzes.result      |
  | sync    | GET    | /events                           | ntf.apps.webhook:update   | 200    | events.fetch        |
  | sync    | GET    | /addresses                        | ntf.apps.webhook:read     | 200    | addresses.list      |
  | sync    | POST   | /addresses                        | ntf.apps.webhook:update   | 201    | addresses.create    |
  | sync    | PUT    | /addresses/{addressId}            | ntf.apps.webhook:update   | 200    | addresses.update    |
  | sync    | DELETE | /addresses/{addressId}            | ntf.apps.webhook:update   | 204    | addresses.remove    |
  | notify  | PUT    | /apps/{id}/webhook                | ntf.apps.webhook:update   | 200    | webhook.put         |
  | notify  | DELETE | /apps/{id}/webhook                | ntf.apps.webhook:update   | 204    | webhook.delete      |
  | notify  | GET    | /apps/{id}/webhook                | ntf.apps.webhook:read     | 200    | webhook.get         |
  | sync    | GET    | /collections                      | svc.apps.storage:read     | 200    | storage.collections |
  | sync    | GET    | /collections/{collection}/entries | svc.apps.storage:read     | 200    | storage.entries     |
  | sync    | GET    | /collections/{collection}/changes | svc.apps.storage:read     | 200    | storage.changes     |
  | sync    | POST   | /batch                            | svc.apps.storage:write    | 200    | storage.batch       |
  | sync    | GET    | /collections/{collection}/rules   | svc.apps.storage:read     | 200    | storage.rules.get   |
  | sync    | POST   | /calendar                         | svc.me.events:read        | 201    | calendar.create     |
  | sync    | PUT    | /collections/{collection}/rules   | svc.apps.storage:write    | 200    | storage.rules.put   |
`)

const world = useWorld({ auth: {} })
/** Without a certificate there are no passes: test/process/card-passes.test.ts has one. */
const statusHere = (procedure: string, status: string) => (procedure === 'card.pass' ? 404 : Number(status))
let server: Awaited<ReturnType<typeof mintAppServer>>
/** Clients of a team of the Hobby level, and without an app. */
const clients = { hobby: id('client'), noApp: id('client') }
const former = id('person')
beforeAll(async () => {
  const { db, ids } = world
  await createQuiz(db, ids)
  await createCard(world)
  server = await mintAppServer(world)
  const environment = 'production'
  const hobby = { id: clients.hobby, name: 'Hobby', environment } as const
  await db.team.create({ data: { id: id('team'), name: 'Hobby', level: 'hobby', clients: { create: hobby } } })
  await db.client.create({ data: { id: clients.noApp, name: 'No app', teamId: ids.team, environment } })
  const memberships = [ids.club, ids.academy, ids.provider].map((organisationId) => ({
    organisationId,
    leftAt: new Date((world.now() - 1) * 1000),
  }))
  const person = { firstName: 'F', lastName: 'F', email: '', memberships: { create: memberships } }
  await db.person.create({ data: { id: former, ...person } })
})

const samples = () => {
  const { app, academy } = world.ids
  return sampleCalls({
    id: app,
    addressId: `address-${app}`,
    quizId: `quiz-${academy}`,
    resultId: `result-${academy}`,
    answers: { q1: 'Yes' },
  })
}
const putEntry = () => world.call('PUT', samples()['storage.put']!.path, { body: { value: 1 } })

const otherSection = { apps: 'lms', lms: 'notify', notify: 'sync', sync: 'apps' } as const

const readMessage = ({ body }: Reply) => body.detail ?? body.error.message

const organisationKind = { svc: 'club', lms: 'academy', ntf: 'provider' } as const
const INVALID = [401, 'invalid_token', 'This token is not valid.'] as const

/** What a call could change. */
const stored = () =>
  Promise.all([
    world.db.app.findMany({ where: { teamId: world.ids.team } }),
    world.db.storageEntry.findMany({ where: { appId: world.ids.app } }),
    world.db.subscription.findMany({ where: { appId: world.ids.app }, orderBy: { id: 'asc' } }),
    world.db.collectionRule.findMany({ where: { appId: server.app } }),
    world.db.quizResult.findMany({ where: { quizId: `quiz-${world.ids.academy}` } }),
  ])

describe('the REST endpoints', () => {
  it('are exactly those of the documents', () => {
    const served = routes.map(({ section, method, path, meta, name }) =>
      [section, method, path, meta.scope ?? 'none', meta.status ?? 200, name].join(' '),
    )
    expect(served.sort()).toEqual(endpoints.map((row) => Object.values(row).join(' ')).sort())
  })

  it('use exactly the scopes of the documents', () => {
    const documented = new Set(endpoints.map(({ Scope }) => Scope).filter((scope) => scope !== 'none'))
    expect([...memberScopes].sort()).toEqual([...documented].sort())
  })
})

describe.each(endpoints)('$Method $Path', ({ Section, Method, Path, Scope, Status, Procedure }) => {
  const section = Section as keyof typeof otherSection
  const path = () => samples()[Procedure]!.path
  /** By a member, or where no member may, by the app itself. */
  const ofApp = Procedure.startsWith('storage.rules.')
  const call = ({ claims, method = Method, ...options }: Call & { method?: string } = {}) => {
    const usual = ofApp ? { ...server.claims, organisation: world.ids.club } : undefined
    const { body } = samples()[Procedure]!
    return world.call(method, path(), { api: section, body, claims: { ...usual, ...claims }, ...options })
  }

  it(`returns ${statusHere(Procedure, Status)} for a token with the scope`, async () => {
    if (Procedure.startsWith('addresses.')) await putAddress(world.core, world.ids.app)
    if (Procedure === 'storage.get' || Procedure === 'storage.delete') await putEntry()
    const reply = await call({ claims: { scope: Scope === 'none' ? '' : Scope } })
    expect(reply.status).toBe(statusHere(Procedure, Status))
    if (Status === '204') expect(reply.text).toBe('')
    else expect(reply.headers['content-type']).toBe('application/json; charset=utf-8')
  })

  /** With the whole body of the section, and without a change. */
  async function expectRefused(options: Call, [status, code, message]: readonly [number, string, string]) {
    const before = Method === 'GET' ? [] : await stored()
    const reply = await call(options)
    const envelope = { error: { code, message, request_id: reply.headers['x-request-id'] } }
    expect(reply).toMatchObject({ status, headers: { 'content-type': 'application/json; charset=utf-8' } })
    expect(reply.body).toEqual(section === 'apps' && status !== 401 ? { detail: message } : envelope)
    expect(Method === 'GET' ? [] : await stored()).toEqual(before)
    return reply
  }

  it('returns 401 without a token, and without a member for clients to whose storage nobody consents', async () => {
    await expectRefused({ token: null }, INVALID)
    const scope = [...memberScopes, ...firstPartyScopes].join(' ')
    const ofTeam = ofApp ? clients.hobby : world.ids.client
    for (const client_id of [ofTeam, world.ids.platform]) {
      await expectRefused({ claims: { client_id, sub: undefined, scope } }, INVALID)
    }
  })

  if (Scope !== 'none')
    it('returns 403 for a token with every other scope', async () => {
      const others = memberScopes.filter((scope) => scope !== Scope)
      const refusal = [403, 'missing_scope', `This token does not carry the ${Scope} scope.`] as const
      const reply = await expectRefused({ claims: { scope: others.join(' ') } }, refusal)
      expect(reply.headers['www-authenticate']).toMatch(
        `Bearer error="insufficient_scope", scope="${Scope}", resource_metadata="`,
      )
    })

  if (ofApp)
    it('returns 403 for a member', async () => {
      await expectRefused({ claims: { sub: world.ids.member } }, [403, 'forbidden', 'Only the app itself can do this.'])
    })

  if (Scope.startsWith('svc.apps.storage') || Procedure === 'events.fetch' || Procedure.startsWith('addresses.'))
    it('returns 403 for a client without an app', async () => {
      const refusal = [403, 'missing_scope', 'This client is not a the service app.'] as const
      await expectRefused({ claims: { client_id: clients.noApp, sub: world.ids.member } }, refusal)
    })

  const kind = organisationKind[Scope.split('.')[0] as keyof typeof organisationKind]
  if (kind !== 'club' && Scope !== 'none')
    it('returns 403 below the Developer membership', async () => {
      const refusal = [403, 'missing_scope', 'The Developer membership is needed for this API.'] as const
      await expectRefused({ claims: { client_id: clients.hobby } }, refusal)
    })

  if (Scope !== 'none' && !ofApp)
    it('returns 404 for people outside the organisation, former members, and another kind of organisation', async () => {
      const message = `This member does not exist in this ${kind}.`
      const elsewhere = kind === 'club' ? world.ids.academy : world.ids.club
      for (const claims of [{ sub: id('person') }, { sub: former }, { organisation: elsewhere }]) {
        await expectRefused({ claims }, [404, 'not_found', message])
      }
    })

  it('returns 404 at the host of another section, even without a token', async () => {
    const reply = await call({ host: `${otherSection[section]}.test`, token: null })
    expect([reply.status, readMessage(reply)]).toEqual([404, `This API answers at ${section}.test.`])
    expect(Object.keys(reply.body)).toEqual([section === 'apps' ? 'detail' : 'error'])
  })

  it('returns 405 for other methods', async () => {
    const reply = await world.call('PATCH', path(), { api: section, token: null })
    const methods = endpoints.filter((row) => row.Path === Path && row.Section === Section).map((row) => row.Method)
    const allowed = String(reply.headers.allow)
      .split(', ')
      .filter((method) => method !== 'HEAD')
    expect([reply.status, allowed.sort()]).toEqual([405, methods.sort()])
  })

  for (const name of routes.find((route) => route.name === Procedure)!.fromQuery)
    it(`refuses an empty ${name}, and changes nothing`, async () => {
      const [address, query] = path().split('?')
      const empty = new URLSearchParams(query)
      empty.set(name, '')
      const before = await stored()
      const usual = ofApp ? { ...server.claims, organisation: world.ids.club } : {}
      const { body } = samples()[Procedure]!
      const reply = await world.call(Method, `${address}?${empty}`, { api: section, body, claims: usual })
      expect([400, 422]).toContain(reply.status)
      expect(await stored()).toEqual(before)
    })

  it('answers a CORS preflight without a token', async () => {
    const reply = await world.call('OPTIONS', path(), { api: section, token: null })
    expect(reply.status).toBe(204)
    expect(reply.headers['access-control-allow-origin']).toBe('*')
    expect(reply.headers['access-control-allow-methods']).toContain(Method)
  })

  if (Method === 'GET')
    it('answers HEAD like GET, without a body', async () => {
      await putEntry()
      const [get, head] = [await call(), await call({ method: 'HEAD' })]
      expect([head.status, head.text]).toEqual([get.status, ''])
      expect(head.headers['content-length']).toBe(get.headers['content-length'])
    })
})

describe('the root record', () => {
  it.each(['', '/'])('is served at /v1%s', async (path) => {
    const { status, body } = await world.call('GET', path)
    expect({ status, body }).toEqual({ status: 200, body: { api: 'apps', organisation: world.ids.club } })
  })

  it('accepts any valid token, even without a membership', async () => {
    const { body } = await world.call('GET', '/', { claims: { sub: 'nobody', organisation: 'nowhere', scope: '' } })
    expect(body).toEqual({ api: 'apps', organisation: 'nowhere' })
  })
})

describe('an unknown path', () => {
  it.each([
    ['apps.test', { detail: 'There is nothing at this address.' }],
    ['lms.test', { error: { code: 'not_found', message: 'There is nothing at this address.' } }],
    ['sync.test', { error: { code: 'not_found', message: 'There is nothing at this address.' } }],
    ['elsewhere.test', { error: { code: 'not_found', message: 'There is nothing at this address.' } }],
  ])('returns 404 in the envelope of %s', async (host, body) => {
    for (const path of [
      '/nothing',
      '/me',
      '/me/profile/',
      '/storage/c/k/',
      '/quizzes/q/r',
      '/quiz-results',
      '/apps/a',
      '/collections/c',
    ]) {
      const reply = await world.call('GET', path, { host, api: 'apps', token: null })
      expect(reply.status).toBe(404)
      expect(reply.body).toMatchObject(body)
    }
  })
})

import { randomUUID } from 'node:crypto'
import { chance } from '../../support/chance.ts'
import type { Reply } from '../../support/request.ts'
import { id } from '../../support/tenant.ts'
import type { Operation, Trpc } from './operation.ts'
import { operation as anyOperation, idsOf } from './operation.ts'
import type { World } from './world.ts'

/** A PNG of 2 × 2 pixels. */
const LOGO = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAEUlEQVR4AWM8AQQMQMDEAAUAMKYDJOk+9mYAAAAASUVORK5CYII='
/** Of a person or a team that has made all the calls of a minute, or all the changes of a day. */
const LIMITED = 429

/** What people of a team do in the portal, as one of its owners. */
export async function ofTeams({ ids, owner, colleague, ...world }: World, trpc: Trpc): Promise<Operation[]> {
  const token = await world.portalToken(owner)
  const ask = (name: string, input: object) => trpc('GET', `developer.${name}`, input, token)
  const change = (name: string, input: object) => trpc('POST', `developer.${name}`, input, token)
  const [invitations, deliveries]: string[][] = [[], []]
  const { team, app } = ids
  const made = await change('clients.create', {
    app,
    name: 'Soak',
    type: 'web',
    redirectUris: ['https://soak.example/'],
    scopes: ['svc.me.profile:read'],
  })
  if (made.status !== 200) throw new Error(`No client: ${made.status} ${made.text}`)
  const client: string = made.body.result.data.id
  const operation = (name: string, right: readonly number[], run: () => Promise<Reply>) =>
    anyOperation(`developer.${name}`, [...right, LIMITED], run, 0.3)
  const draw = chance('roles')
  const ofTeam = [
    ...['teams.summary', 'teams.get', 'people.list', 'apps.list', 'apps.providers', 'clients.list'],
    ...['teams.holdings', 'testClub.get', 'testClub.holdings', 'audit.list', 'requests.list', 'usage'],
  ]
  return [
    ...['teams.list', 'invitations.list', 'mails.get'].map((name) => operation(name, [200], () => ask(name, {}))),
    ...ofTeam.map((name) => operation(name, [200], () => ask(name, { team }))),
    ...[
      'apps.get',
      'apps.clubs',
      'apps.health',
      'apps.holdings',
      'webhook.kinds',
      'deliveries.filters',
      'data.stores',
      'rules.list',
    ].map((name) => operation(name, [200], () => ask(name, { app }))),
    ...(['collections', 'entries', 'entry', 'put', 'remove'] as const).map((name) => {
      const input = { app, club: id('none'), owner: '', collection: 'c', key: 'k', etag: '', value: '1' }
      const call = name === 'put' || name === 'remove' ? change : ask
      return operation(`data.${name}`, [404], () => call(`data.${name}`, input))
    }),
    ...['invitations.accept', 'invitations.decline'].map((name) =>
      operation(name, [404], () => change(name, { invitation: id('none') })),
    ),
    operation('apps.remove', [409], () => change('apps.remove', { app, confirm: '' })),
    operation('apps.restore', [200], () => change('apps.restore', { app })),
    operation('teams.remove', [409], () => change('teams.remove', { team, confirm: '' })),
    operation('teams.restore', [200], () => change('teams.restore', { team })),
    operation('testClub.reset', [200], () => change('testClub.reset', { team })),
    operation('testClub.review', [404], () => change('testClub.review', { team, result: id('none'), correct: true })),
    operation('people.get', [200], () => ask('people.get', { team, person: colleague })),
    operation('people.invite', [200, 409], async () => {
      const reply = await change('people.invite', { team, email: `${randomUUID()}@example.org`, role: 'developer' })
      invitations!.push(...idsOf(reply))
      return reply
    }),
    operation('people.withdraw', [200, 404], () =>
      change('people.withdraw', { team, invitation: invitations!.shift() ?? 'none' }),
    ),
    operation('mails.set', [200], () => change('mails.set', { language: 'de', off: [] })),
    operation('people.setRole', [200], () =>
      change('people.setRole', { team, person: colleague, role: ['owner', 'developer'][draw(2)] }),
    ),
    operation('people.remove', [404], () => change('people.remove', { team, person: id('none') })),
    operation('apps.create', [200, 409], () => change('apps.create', { team, name: 'Soak', provider: ids.provider })),
    operation('apps.update', [200], () => change('apps.update', { app, description: randomUUID() })),
    operation('apps.setLogo', [200], () => change('apps.setLogo', { app, picture: LOGO })),
    operation('apps.removeLogo', [200], () => change('apps.removeLogo', { app })),
    operation('rules.set', [200], () =>
      change('rules.set', { app, collection: 'soaked', rule: ['author', 'anyone'][draw(2)] }),
    ),
    operation('clients.get', [200], () => ask('clients.get', { client })),
    operation('clients.create', [400], () =>
      change('clients.create', { app, name: 'Soak', type: 'web', redirectUris: [], scopes: [] }),
    ),
    operation('clients.update', [409], () => change('clients.update', { client, version: -1, name: 'Soak' })),
    operation('clients.remove', [404], () => change('clients.remove', { client: id('none') })),
    operation('clients.requestProduction', [404], () =>
      change('clients.requestProduction', { client: id('none'), purpose: {} }),
    ),
    operation('clients.setAuthentication', [404], () =>
      change('clients.setAuthentication', { client: id('none'), version: 0, authentication: 'none' }),
    ),
    operation('clients.secrets.create', [200, 409], () => change('clients.secrets.create', { client })),
    operation('clients.secrets.remove', [404], () => change('clients.secrets.remove', { client, secret: id('none') })),
    operation('requests.get', [200], () => ask('requests.get', { team, requestId: randomUUID() })),
    operation('webhook.get', [200], () => ask('webhook.get', { app: world.webhooks })),
    operation('webhook.set', [200], () =>
      change('webhook.set', { app: world.webhooks, url: world.receiver.url('/hook') }),
    ),
    operation('webhook.remove', [200], () => change('webhook.remove', { app: world.webhooks })),
    operation('webhook.endFormerSecret', [200], () => change('webhook.endFormerSecret', { app: world.webhooks })),
    operation('webhook.test', [200, 409], () => change('webhook.test', { app })),
    operation('deliveries.list', [200], async () => {
      const reply = await ask('deliveries.list', { app })
      deliveries!.splice(0, deliveries!.length, ...idsOf(reply))
      return reply
    }),
    operation('deliveries.get', [200, 404], () => ask('deliveries.get', { app, id: deliveries![0] ?? 'none' })),
    operation('deliveries.retry', [200, 404, 409], () =>
      change('deliveries.retry', { app, id: deliveries!.pop() ?? 'none' }),
    ),
    operation('deliveries.retryFailed', [200], () => change('deliveries.retryFailed', { app, since: 0 })),
  ]
}

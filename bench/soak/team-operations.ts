import { randomUUID } from 'node:crypto'
import type { Reply } from '../../test/support/request.ts'
import { id } from '../../test/support/tenant.ts'
import type { Operation } from './operations.ts'
import type { World } from './world.ts'

/** A PNG of 2 × 2 pixels. */
const LOGO = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAEUlEQVR4AWM8AQQMQMDEAAUAMKYDJOk+9mYAAAAASUVORK5CYII='

type Trpc = (type: 'GET' | 'POST', name: string, input: unknown, token: string) => Promise<Reply>

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
    ...{ app, name: 'Soak', type: 'web', redirectUris: ['https://soak.example/'], scopes: ['svc.me.profile:read'] },
  })
  if (made.status !== 200) throw new Error(`No client: ${made.status} ${made.text}`)
  const client: string = made.body.result.data.id
  /** Of a reply that lists or makes something. */
  const idsOf = ({ status, body }: Reply): string[] => {
    if (status !== 200) return []
    const { items, id: one } = body.result.data
    return items ? items.map((item: { id: string }) => item.id) : [one]
  }

  const operation = (name: string, right: readonly number[], run: () => Promise<Reply>): Operation => ({
    ...{ name: `developer.${name}`, right: [...right, LIMITED], run },
    weight: 0.3,
  })
  return [
    operation('teams.list', [200], () => ask('teams.list', {})),
    operation('teams.summary', [200], () => ask('teams.summary', { team })),
    operation('teams.get', [200], () => ask('teams.get', { team })),
    operation('invitations.list', [200], () => ask('invitations.list', {})),
    operation('invitations.accept', [404], () => change('invitations.accept', { invitation: id('none') })),
    operation('invitations.decline', [404], () => change('invitations.decline', { invitation: id('none') })),
    operation('people.list', [200], () => ask('people.list', { team })),
    operation('people.get', [200], () => ask('people.get', { team, person: colleague })),
    operation('people.invite', [200, 409], async () => {
      const reply = await change('people.invite', { team, email: `${randomUUID()}@example.org`, role: 'developer' })
      invitations!.push(...idsOf(reply))
      return reply
    }),
    operation('people.withdraw', [200, 404], () =>
      change('people.withdraw', { team, invitation: invitations!.shift() ?? 'none' }),
    ),
    operation('people.setRole', [200], () =>
      change('people.setRole', { team, person: colleague, role: Math.random() < 0.5 ? 'owner' : 'developer' }),
    ),
    operation('people.remove', [404], () => change('people.remove', { team, person: id('none') })),
    operation('apps.list', [200], () => ask('apps.list', { team })),
    operation('apps.get', [200], () => ask('apps.get', { app })),
    operation('apps.providers', [200], () => ask('apps.providers', { team })),
    operation('apps.create', [200, 409], () => change('apps.create', { team, name: 'Soak', provider: ids.provider })),
    operation('apps.update', [200], () => change('apps.update', { app, description: randomUUID() })),
    operation('apps.setLogo', [200], () => change('apps.setLogo', { app, picture: LOGO })),
    operation('apps.removeLogo', [200], () => change('apps.removeLogo', { app })),
    operation('clients.list', [200], () => ask('clients.list', { team })),
    operation('clients.get', [200], () => ask('clients.get', { client })),
    operation('clients.create', [400], () =>
      change('clients.create', { app, name: 'Soak', type: 'web', redirectUris: [], scopes: [] }),
    ),
    operation('clients.update', [409], () => change('clients.update', { client, version: -1, name: 'Soak' })),
    operation('clients.remove', [404], () => change('clients.remove', { client: id('none') })),
    operation('clients.requestProduction', [404], () =>
      change('clients.requestProduction', { client: id('none'), purpose: {} }),
    ),
    operation('audit.list', [200], () => ask('audit.list', { team })),
    operation('requests.list', [200], () => ask('requests.list', { team })),
    operation('requests.get', [200], () => ask('requests.get', { team, requestId: randomUUID() })),
    operation('usage', [200], () => ask('usage', { team })),
    operation('webhook.get', [200], () => ask('webhook.get', { app: world.webhooks })),
    operation('webhook.kinds', [200], () => ask('webhook.kinds', { app })),
    operation('webhook.set', [200], () =>
      change('webhook.set', { app: world.webhooks, url: world.receiver.url('/hook') }),
    ),
    operation('webhook.remove', [200], () => change('webhook.remove', { app: world.webhooks })),
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

import { randomUUID } from 'node:crypto'
import { chance } from '../../support/chance.ts'
import { id } from '../../support/tenant.ts'
import type { Operation, Trpc } from './operation.ts'
import { operation, readIds } from './operation.ts'
import type { World } from './world.ts'

/** A PNG of 2 × 2 pixels. */
const LOGO = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAEUlEQVR4AWM8AQQMQMDEAAUAMKYDJOk+9mYAAAAASUVORK5CYII='
/** The status for a person or a team that has made all the calls of a minute, or all the changes of a day. */
const LIMITED = 429

/** What people of a team do in the portal, as one of its owners. */
export async function teamOperations({ ids, owner, colleague, ...world }: World, trpc: Trpc): Promise<Operation[]> {
  const token = await world.portalToken(owner)
  const ask = (name: string, input: object) => trpc('GET', `developer.${name}`, input, token)
  const change = (name: string, input: object) => trpc('POST', `developer.${name}`, input, token)
  const [invitations, deliveries, addresses]: string[][] = [[], [], []]
  const { team, app } = ids
  const access = { redirectUris: ['https://soak.example/'], scopes: ['svc.me.profile:read'] }
  const made = await change('clients.create', { app, name: 'Soak', type: 'web', ...access })
  if (made.status !== 200) throw new Error(`No client: ${made.status} ${made.text}`)
  const client: string = made.body.result.data.id
  const draw = chance('roles')
  const invite = () => ({ team, email: `${randomUUID()}@example.org`, role: 'developer' })
  const rule = () => ({ app, collection: 'soaked', rule: ['author', 'anyone'][draw(2)] })
  const noEntry = () => ({ app, club: id('none'), owner: '', collection: 'c', key: 'k', etag: '', value: '1' })
  const noClient = { app, name: 'Soak', type: 'web', redirectUris: [], scopes: [] }
  const webhook = () => ({ app: world.webhooks })
  const newAddress = () => ({ app, environment: 'production', url: world.receiver.url('/hook'), types: null })

  /** By name: statuses that are right, how it is called, with what, and what becomes of the reply's ids. */
  type Row = [
    name: string,
    right: readonly number[],
    call: typeof ask,
    input: () => object,
    keep?: (ids: string[]) => void,
  ]
  const each = (names: readonly string[], right: readonly number[], call: typeof ask, input: () => object): Row[] =>
    names.map((name) => [name, right, call, input])
  const teamReads = [
    'people.list',
    'apps.list',
    'apps.providers',
    'clients.list',
    'testClub.get',
    'audit.list',
    'requests.list',
    'usage',
  ]
  const rows: Row[] = [
    ...each(['teams.list', 'teams.signup', 'invitations.list', 'mails.get'], [200], ask, () => ({})),
    ...each(['teams.summary', 'teams.get', 'teams.impact', 'testClub.impact', ...teamReads], [200], ask, () => ({
      team,
    })),
    ...each(['apps.get', 'apps.clubs', 'apps.health', 'apps.impact', 'webhook.kinds'], [200], ask, () => ({ app })),
    ...each(['deliveries.filters', 'data.stores', 'rules.list'], [200], ask, () => ({ app })),
    ...each(['data.collections', 'data.entries', 'data.entry'], [404], ask, noEntry),
    ...each(['data.put', 'data.remove'], [404], change, noEntry),
    ...each(['invitations.accept', 'invitations.decline'], [404], change, () => ({ invitation: id('none') })),
    // This service has TEAM_SIGNUP closed, as in production.
    ['teams.create', [403], change, () => ({ name: 'Soak' })],
    ['teams.request', [403], change, () => ({ name: 'Soak', purpose: 'To soak.' })],
    ['teams.withdrawRequest', [404], change, () => ({})],
    ['apps.remove', [409], change, () => ({ app, confirm: '' })],
    ['apps.restore', [200], change, () => ({ app })],
    ['teams.remove', [409], change, () => ({ team, confirm: '' })],
    ['teams.restore', [200], change, () => ({ team })],
    ['testClub.reset', [200], change, () => ({ team })],
    ['testClub.change', [404, 429], change, () => ({ team, member: id('none'), change: 'left' })],
    ['testClub.withdraw', [404, 429], change, () => ({ team, member: id('none'), client: id('none') })],
    ['testClub.review', [404], change, () => ({ team, result: id('none'), correct: true })],
    ['people.get', [200], ask, () => ({ team, person: colleague })],
    ['people.invite', [200, 409], change, invite, (ids) => invitations!.push(...ids)],
    ['people.withdraw', [200, 404], change, () => ({ team, invitation: invitations!.shift() ?? 'none' })],
    ['mails.set', [200], change, () => ({ language: 'de', off: [] })],
    ['people.setRole', [200], change, () => ({ team, person: colleague, role: ['owner', 'developer'][draw(2)] })],
    ['people.remove', [404], change, () => ({ team, person: id('none') })],
    ['apps.create', [200, 409], change, () => ({ team, name: 'Soak', provider: ids.provider })],
    ['apps.update', [200], change, () => ({ app, description: randomUUID() })],
    ['apps.withdrawChanges', [409], change, () => ({ app, version: -1 })],
    ['apps.setLogo', [200], change, () => ({ app, picture: LOGO })],
    ['apps.removeLogo', [200], change, () => ({ app })],
    ['rules.set', [200], change, rule],
    ['clients.get', [200], ask, () => ({ client })],
    ['clients.create', [400], change, () => noClient],
    ['clients.update', [409], change, () => ({ client, version: -1, name: 'Soak' })],
    ['clients.remove', [404], change, () => ({ client: id('none'), confirm: id('none') })],
    ['clients.requestProduction', [404], change, () => ({ client: id('none'), purpose: {} })],
    ['clients.withdrawRequest', [409], change, () => ({ client, version: -1 })],
    ['clients.setAuthentication', [404], change, () => ({ client: id('none'), version: 0, authentication: 'none' })],
    ['clients.secrets.create', [200, 409], change, () => ({ client })],
    ['clients.secrets.remove', [404], change, () => ({ client, secret: id('none') })],
    ['requests.get', [200], ask, () => ({ team, requestId: randomUUID() })],
    ['webhook.get', [200], ask, webhook],
    ['addresses.list', [200], ask, () => ({ app })],
    ['addresses.create', [200, 409], change, newAddress, (ids) => addresses!.push(...ids)],
    ['addresses.update', [200, 404], change, () => ({ app, id: addresses![0] ?? 'none', state: 'active' })],
    ['addresses.remove', [200, 404], change, () => ({ app, id: addresses!.pop() ?? 'none' })],
    ['webhook.set', [200], change, () => ({ ...webhook(), url: world.receiver.url('/hook') })],
    ['webhook.remove', [200], change, webhook],
    ['webhook.endFormerSecret', [200], change, webhook],
    ['webhook.test', [200, 409], change, () => ({ app })],
    ['deliveries.list', [200], ask, () => ({ app }), (ids) => deliveries!.splice(0, deliveries!.length, ...ids)],
    ['deliveries.get', [200, 404], ask, () => ({ app, id: deliveries![0] ?? 'none' })],
    ['deliveries.retry', [200, 404, 409], change, () => ({ app, id: deliveries!.pop() ?? 'none' })],
    ['deliveries.resend', [200, 404, 409], change, () => ({ app, id: deliveries!.at(-1) ?? 'none' })],
    ['deliveries.retryFailed', [200], change, () => ({ app, since: 0 })],
  ]
  return rows.map(([name, right, call, input, keep]) => {
    const run = async () => {
      const reply = await call(name, input())
      keep?.(readIds(reply))
      return reply
    }
    return operation(`developer.${name}`, [...right, LIMITED], run, 0.3)
  })
}

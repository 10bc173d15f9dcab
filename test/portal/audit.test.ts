import { describe, expect, it } from 'vitest'
import { refuse } from '../../routers/developer/reviews/decide.ts'
import type { Registration } from '../../routers/developer/shared/registration.ts'
import { register } from '../../server/admin/clients.ts'
import { id } from '../support/tenant.ts'
import { portal, portalWorld } from './portal-world.ts'

const team = portalWorld({ teamSignup: 'open' })

/** The entries of a team, the newest first, as text. */
async function readEntries(own: string, language = 'en') {
  const { text } = await team.asOwner.get(`${own}/audit`, { 'accept-language': language })
  return text.split('<li class="').slice(1)
}
const readTitle = (entry: string) => /<p class="title">(?:<code>)?([^:<]+)/.exec(entry)![1]

describe('the audit log', () => {
  it('says of a client of the operator what it is, also when another replaces it', async () => {
    const { db, ids } = team.world
    const registration: Registration = {
      id: id('client'),
      name: 'Trainer',
      type: 'web',
      environment: 'production',
      redirectUris: ['https://app.example.org/'],
      scopes: ['svc.me.profile:read'],
      team: { id: ids.team },
      app: { id: ids.app },
    }
    for (const replace of [false, true]) await register(db, registration, { replace, development: false })
    const [replaced, created] = await readEntries(team.own)
    expect([replaced!, created!].map(readTitle)).toEqual(['Client replaced', 'Client created'])
    expect(created).toContain('<dt>Environment</dt><dd>production</dd>')
    expect((await readEntries(team.own, 'de')).slice(0, 2).map(readTitle)).toEqual([
      'Client ersetzt',
      'Client angelegt',
    ])
  })

  it('names each field of a requested client, and shows times as times', async () => {
    const { db, core } = team.world
    const { id: sandbox } = await team.sandbox()
    const api = team.as(team.owner)
    const purpose = { 'svc.me.profile:read': 'It greets the member.' }
    const request = async () => (await api.clients.requestProduction({ client: sandbox, purpose })).id
    const [requested, refused] = [await request(), await request()]
    await refuse(db, { kind: 'client', id: refused }, 'For whom?', new Date(core.now()))
    for (const client of [requested, refused]) await api.clients.remove({ client, confirm: client })
    const [ofRefused, ofRequested, , ...requests] = (await readEntries(team.own)).slice(0, 5)
    expect([ofRefused!, ofRequested!].map(readTitle)).toEqual(['Client removed', 'Client removed'])
    expect(ofRequested).toMatch(/<dt>Requested<\/dt><dd><time [^>]*>/)
    expect(ofRefused).toMatch(/<dt>Refusal<\/dt><dd>Time: <time .*<br>Reason: <bdi>For whom\?<\/bdi><\/dd>/)
    for (const entry of requests) expect(entry).toContain('<dt>Sandbox client</dt>')
    for (const entry of [ofRefused, ofRequested, ...requests]) {
      expect(entry).not.toMatch(/<dt>[a-z]|<bdi>\d{10}<\/bdi>/)
    }
  })

  it('says of a founder that they joined, and not that an invitation was accepted', async () => {
    await team.asOwner.post(`${portal}/create-team`, { name: 'Sailors' })
    const made = await team.world.db.team.findFirstOrThrow({
      where: { name: 'Sailors', people: { some: { personId: team.owner } } },
    })
    const entries = await readEntries(`${portal}/teams/${made.id}`)
    expect(entries.map(readTitle)).toEqual(['Person joined', 'Team created'])
  })
})
